import { NotFound, PermissionDenied } from "../../shared/app_error.ts";
import { canReadChannel, isChannelReliable, type ChannelReader } from "../../shared/channel_name.ts";

/** The second of the two gates before a stream: what `getChannels` returned is looked at again, by name alone. */
export interface ChannelManager {
  /** True when the name is well formed and of the principal's own tenant. */
  canReadChannel(principal: ChannelReader | null | undefined, name: unknown): boolean;
  /** Always false: nothing is replayed. */
  isChannelReliable(name: string): false;
  /**
   * The names without repetition, if the principal may read every one of them. Throws `PermissionDenied` when a name is
   * malformed or another tenant's, and does not say which or why; `NotFound` when there is none.
   */
  requireReadable(principal: ChannelReader, names: readonly unknown[]): readonly string[];
}

export const channelManager: ChannelManager = { canReadChannel, isChannelReliable, requireReadable };

function requireReadable(principal: ChannelReader, names: readonly unknown[]): readonly string[] {
  const readable = names.filter((name): name is string => canReadChannel(principal, name));
  if (readable.length < names.length) throw new PermissionDenied("Not permitted to read this event stream");
  if (readable.length === 0) throw new NotFound("No such event stream");
  return readable.length === 1 ? readable : [...new Set(readable)];
}
