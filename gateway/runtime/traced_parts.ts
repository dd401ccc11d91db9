import type { Database } from "../../drizzle/database.ts";
import { observeDatabase } from "../../drizzle/databases/observed_database.ts";
import type { Broker } from "../../shared/broker.ts";
import { parseChannelName } from "../../shared/channel_name.ts";
import type { Authenticator } from "../auth/authenticate.ts";
import type { Principal } from "../auth/principal.ts";
import type { PartTraces } from "../observability/traces.ts";

/** A span for each statement of a request: the text with its placeholders, never a value. */
export function traceDatabase(database: Database, traces: PartTraces): Database {
  return observeDatabase(database, (text, run) => {
    const operation = (/^[a-z]+/i.exec(text)?.[0] ?? "statement").toUpperCase();
    const attributes = {
      "db.system.name": "postgresql",
      "db.operation.name": operation,
      "db.query.text": text.slice(0, 1000),
    };
    return traces.part({ name: operation, kind: "client", attributes }, run);
  });
}

/** A span for each publish of a request, and for the time until the broker confirms a subscription. */
export function traceBroker(broker: Broker, kind: string, traces: PartTraces): Broker {
  return {
    ping: () => broker.ping(),
    close: () => broker.close(),
    publish(channel, message) {
      const part = { name: `publish ${prefixOf(channel)}`, kind: "producer", attributes: of("send", channel) } as const;
      return traces.part(part, () => broker.publish(channel, message));
    },
    subscribe(channels, handlers, signal) {
      const [first = ""] = channels;
      const part = { name: `subscribe ${prefixOf(first)}`, kind: "client", attributes: of("receive", first) } as const;
      return traces.part(part, () => broker.subscribe(channels, handlers, signal));
    },
  };

  function of(operation: string, channel: string) {
    return {
      "messaging.system": kind,
      "messaging.operation.type": operation,
      "messaging.destination.template": prefixOf(channel),
    };
  }
}

/** The request's span says whose it is: the tenant, not the person. */
export function traceAuthenticator(authenticator: Authenticator, traces: PartTraces): Authenticator {
  return {
    authenticate: async (...args) => annotated(await authenticator.authenticate(...args)),
    authenticateStream: async (...args) => annotated(await authenticator.authenticateStream(...args)),
    identify: (request) => authenticator.identify(request),
  };

  function annotated<Known extends Principal>(principal: Known): Known {
    traces.annotate({ "scanstream.tenant.id": principal.tenantId, "scanstream.principal.kind": principal.kind });
    return principal;
  }
}

/** Names are bounded: a channel's own would be one for each scan. */
function prefixOf(channel: string): string {
  return parseChannelName(channel)?.prefix ?? "channel";
}
