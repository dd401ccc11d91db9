/** What a scan publishes. The functions are shared: the scanner is the usual producer, the gateway ends expired scans. */
export {
  publishFindingCreated,
  publishScanEnd,
  publishScanError,
  publishScanProgress,
  publishScanStart,
  scanChannel,
  scanPrefix,
} from "../../../shared/scan_events.ts";
