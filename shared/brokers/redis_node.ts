import { openRedisConnection, type RedisConnection } from "./redis_connection.ts";
import { openSubscriberConnection, type SubscriberConnection, type SubscriberSettings } from "./redis_subscriber.ts";
import type { ChannelListener, ChannelSource } from "./shared_subscriptions.ts";

/** What is behind the address: one server at a time, or the nodes of a cluster. */
export interface RedisServers {
  publish(key: string, message: string): Promise<void>;
  open(key: string, listener: ChannelListener): ChannelSource;
  ping(): Promise<void>;
  /** Everything open is lost. */
  drop(): void;
}

/** One server: a connection for commands and one for subscriptions, each opened when it is needed, again after a loss. */
export interface RedisNode {
  readonly send: RedisConnection["send"];
  open(key: string, listener: ChannelListener): ChannelSource;
  readonly isSubscribed: boolean;
  drop(): void;
}

/** `onClosed` is called when a connection was lost, or never became ready. */
export function createRedisNode(settings: SubscriberSettings, onClosed: () => void = () => undefined): RedisNode {
  let commands: RedisConnection | null = null;
  let subscriber: SubscriberConnection | null = null;

  return {
    send: (action, command) => commandConnection().send(action, command),
    open: (key, listener) => subscriberConnection().open(key, listener),
    get isSubscribed() {
      return subscriber !== null;
    },
    drop() {
      subscriber?.drop();
      commands?.drop();
    },
  };

  function commandConnection(): RedisConnection {
    if (commands === null) {
      const opened = openRedisConnection(settings, () => {
        if (commands === opened) commands = null;
        onClosed();
      });
      commands = opened;
    }
    return commands;
  }

  function subscriberConnection(): SubscriberConnection {
    if (subscriber === null) {
      const opened = openSubscriberConnection(settings, () => {
        if (subscriber === opened) subscriber = null;
        onClosed();
      });
      subscriber = opened;
    }
    return subscriber;
  }
}
