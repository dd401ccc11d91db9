/** Apart from the schemas, whose library the command line loads only when a command runs. */

/** What a webhook can be told of; docs/webhooks.md has each with its payload. */
export const webhookEvents = ["scan.end", "finding.created", "finding.updated", "monitor.error"] as const;

export const deliveryStatuses = ["pending", "delivered", "dead"] as const;
