import { NotFound, PermissionDenied } from "../../shared/app_error.ts";
import { canReadChannel, parseChannelName } from "../../shared/channel_name.ts";
import type { Principal } from "../auth/principal.ts";

/** More channels on one stream are a bug of the feature, not a wish of the client. */
const maxChannels = 100;

/**
 * The second of the two gates before a stream: checks the channels that `getChannels` returned by their names alone, and
 * returns them without duplicates. Throws `PermissionDenied` when one is malformed or another tenant's, without naming it
 * or the reason; `NotFound` when none exists; `Error` for a bug of the feature.
 */
export function requireReadable(principal: Principal, prefix: string, names: readonly unknown[]): readonly string[] {
  const readable = names.filter((name): name is string => canReadChannel(principal, name));
  if (readable.length < names.length) throw new PermissionDenied("Not permitted to read this event stream");
  if (readable.length === 0) throw new NotFound("No such event stream");
  const channels = [...new Set(readable)];
  const misnamed = channels.find((channel) => parseChannelName(channel)?.prefix !== prefix);
  if (misnamed !== undefined) {
    throw new Error(`Cannot open an event stream: channel "${misnamed}" is not of the feature's prefix "${prefix}"`);
  }
  if (channels.length > maxChannels) {
    throw new Error(`Cannot open an event stream: ${channels.length} channels: at most ${maxChannels} are allowed`);
  }
  return channels;
}
