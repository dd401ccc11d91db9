import { NotFound, PermissionDenied } from "../../shared/app_error.ts";
import { isUuid, parseChannelName } from "../../shared/channel_name.ts";
import { withPrincipal } from "../auth/membership.ts";
import { channelManager } from "./channel_manager.ts";
import type {
  ChannelsRequest,
  ChannelsResult,
  EventStreamDefinition,
  EventStreamDependencies,
} from "./define_event_stream.ts";
import type { Principal } from "../auth/principal.ts";

export interface EventStreamRequest<Path extends string> {
  readonly request: Request;
  readonly params: ChannelsRequest<Path>["params"];
  readonly platform: unknown;
}

/** More channels on one stream are a bug of the feature, not a wish of the client. */
const maxChannels = 64;

/**
 * From a request to an open stream; null when the resource has ended. Every refusal is thrown, before any byte of a
 * stream: `not_authenticated`, `not_found`, `permission_denied`, `too_many`, `unavailable`.
 */
export async function openEventStream<Path extends string>(
  definition: EventStreamDefinition<Path>,
  dependencies: EventStreamDependencies,
  { request, params, platform }: EventStreamRequest<Path>,
): Promise<Response | null> {
  const { authenticator, streams } = dependencies;
  const principal = await authenticator.authenticateStream(request);
  const isResourceId: (value: string) => boolean = definition.isResourceId ?? isUuid;
  if (!Object.values<string>(params).every((value) => isResourceId(value))) throw new NotFound("No such resource");

  const url = new URL(request.url);
  url.searchParams.delete("access_token");
  const lookup = () => findChannels(definition, dependencies, { principal, params, url });
  const found = await (streams.lookups?.share(lookupKey(principal, url), lookup) ?? lookup());

  const channels = requireChannels(definition, principal, "ended" in found ? found.ended : found);
  if ("ended" in found) return null;
  return streams.open({
    request,
    principal,
    channels,
    endsAfterTerminalEvent: definition.closesAfterEnd ?? false,
    platform,
  });
}

interface Lookup<Path extends string> {
  readonly principal: Principal;
  readonly params: ChannelsRequest<Path>["params"];
  readonly url: URL;
}

async function findChannels<Path extends string>(
  definition: EventStreamDefinition<Path>,
  { database }: EventStreamDependencies,
  { principal, params, url }: Lookup<Path>,
): Promise<ChannelsResult> {
  const query = Object.fromEntries([...url.searchParams].toReversed());
  return withPrincipal(database, principal, async (tx) => definition.getChannels({ principal, params, tx, query }));
}

/** Whose channels these are is settled by their names alone, whatever the lookup was. */
function requireChannels(
  { prefix }: { readonly prefix: string },
  principal: Principal,
  names: readonly string[],
): readonly string[] {
  const channels = channelManager.requireReadable(principal, names);
  const stranger = channels.find((channel) => parseChannelName(channel)?.prefix !== prefix);
  if (stranger !== undefined) {
    throw new Error(`Cannot open an event stream: channel "${stranger}" is not of the feature's prefix "${prefix}"`);
  }
  if (channels.length > maxChannels) {
    throw new Error(`Cannot open an event stream: ${channels.length} channels: at most ${maxChannels} are allowed`);
  }
  if (principal.onlyChannel !== null && channels.some((channel) => channel !== principal.onlyChannel)) {
    throw new PermissionDenied("This stream token is for another event stream");
  }
  return channels;
}

/** Everything that the answer can depend on. Two tokens of one principal ask the same; a stream token asks for itself. */
function lookupKey(principal: Principal, url: URL): string {
  return JSON.stringify([
    principal.kind,
    principal.tenantId,
    principal.id,
    principal.onlyChannel,
    url.pathname,
    url.search,
  ]);
}
