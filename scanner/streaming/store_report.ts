import { gzipSync } from "node:zlib";
import { pause } from "../../shared/abortable.ts";
import { problemOf, type GatewayClient } from "../../shared/client/gateway_client.ts";
import type { Report } from "../../shared/report.ts";
import { maxStoredReportBytes } from "../../shared/schemas/report.ts";
import { createRetry, retryDelayMs } from "./delivery.ts";

interface StoreOptions {
  readonly gateway: GatewayClient;
  readonly scanId: string;
  readonly warn: (message: string) => void;
  /** How long it is tried again. */
  readonly timeoutMs: number;
}

/** Stores the finished report of a scan. Never rejects: that it cannot be stored is one warning. */
export async function storeReport(report: Report, { gateway, scanId, warn, timeoutMs }: StoreOptions): Promise<void> {
  const body = gzipSync(JSON.stringify(report));
  if (body.length > maxStoredReportBytes) {
    const sizes = `it has ${mebibytes(body.length)} compressed, at most ${mebibytes(maxStoredReportBytes)} are kept`;
    warn(`The report was not stored at the gateway: ${sizes}`);
    return;
  }
  const deadlineMs = Date.now() + timeoutMs;
  const retry = createRetry(new AbortController().signal, {
    onAccepted() {},
    async beforeRetry(error, failures) {
      if (Date.now() + retryDelayMs(failures) >= deadlineMs) throw error;
      await pause(retryDelayMs(failures), []);
    },
  });
  try {
    await retry((signal) => gateway.storeReport(scanId, body, signal));
  } catch (error) {
    warn(`The report was not stored at the gateway: ${problemOf(error)}`);
  }
}

function mebibytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MiB`;
}
