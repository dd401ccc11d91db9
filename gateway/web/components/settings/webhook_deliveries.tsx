import { useCallback, useState } from "preact/hooks";
import {
  deliveryStatuses,
  type Delivery,
  type DeliveryStatus,
  type Webhook,
} from "../../../../shared/schemas/webhook.ts";
import type { Api } from "../../model/api.ts";
import { listDeliveries, replayDelivery } from "../../webhook_wire.ts";
import { Time } from "../basics.tsx";
import { useNow } from "../hooks.ts";
import { Outcome, Rows } from "./parts.tsx";
import { useAction } from "./use_action.ts";
import { usePages } from "./use_pages.ts";

const statusTexts: Readonly<Record<DeliveryStatus, readonly [word: string, tone: string]>> = {
  pending: ["Pending", "tone-accent"],
  delivered: ["Delivered", "tone-pass"],
  dead: ["Given up", "tone-fail"],
};

/** What was sent to a webhook in the last 30 days, and what is still to be sent. */
export function WebhookDeliveries({ api, webhook: { id, enabled } }: { readonly api: Api; readonly webhook: Webhook }) {
  const [status, setStatus] = useState<DeliveryStatus | "">("");
  const pages = usePages(useCallback((request) => listDeliveries(api, { id, status }, request), [api, id, status]));
  const action = useAction();
  useNow();
  const nowMs = api.nowMs();

  async function replay(delivery: Delivery): Promise<void> {
    const isDone = await action.run("send it again", async (signal) => {
      await replayDelivery(api, delivery, signal);
      return `${delivery.type} is sent again`;
    });
    if (isDone) pages.reload();
  }

  return (
    <div class="deliveries stack">
      <div class="row wrap">
        <label class="row">
          Show
          <select
            value={status}
            onChange={({ currentTarget: { value } }) =>
              setStatus(deliveryStatuses.find((known) => known === value) ?? "")
            }
          >
            <option value="">all deliveries</option>
            {deliveryStatuses.map((each) => (
              <option key={each} value={each}>
                {statusTexts[each][0].toLowerCase()}
              </option>
            ))}
          </select>
        </label>
        <button type="button" class="button button-small" onClick={() => pages.reload()}>
          Refresh
        </button>
      </div>
      <Outcome action={action} />
      <Rows
        pages={pages}
        label="Deliveries"
        emptyText={status === "" ? "Nothing was sent in the last 30 days." : "No delivery has this status."}
        row={(delivery) => (
          <li key={delivery.id} class="settings-row">
            <span class="grow">
              <span class="strong settings-name">{delivery.type}</span>
              <DeliveryFacts delivery={delivery} nowMs={nowMs} />
            </span>
            <span class={`badge tinted ${statusTexts[delivery.status][1]}`}>{statusTexts[delivery.status][0]}</span>
            {enabled && (
              <button
                type="button"
                class="button button-quiet"
                disabled={action.isBusy}
                aria-label={`Send ${delivery.type} of ${delivery.created_at} again`}
                onClick={() => void replay(delivery)}
              >
                Send again
              </button>
            )}
          </li>
        )}
      />
    </div>
  );
}

function DeliveryFacts({ delivery, nowMs }: { readonly delivery: Delivery; readonly nowMs: number }) {
  const { attempts, created_at: createdAt, last_error: lastError, next_attempt_at: nextAt } = delivery;
  return (
    <>
      <span class="fine">
        <Time atMs={Date.parse(createdAt)} nowMs={nowMs} />
        {` · ${attempts} ${attempts === 1 ? "attempt" : "attempts"}`}
        {nextAt !== null && attempts > 0 && (
          <>
            {" · next "}
            <Time atMs={Date.parse(nextAt)} nowMs={nowMs} />
          </>
        )}
      </span>
      {lastError !== null && <span class="fine">{lastError}</span>}
    </>
  );
}
