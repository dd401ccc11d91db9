import type { TargetedSubmitEvent } from "preact";
import { useCallback, useRef, useState } from "preact/hooks";
import {
  webhookEvents,
  type NewWebhook,
  type Webhook,
  type WebhookEvent,
  type WebhookWithSecret,
} from "../../../../shared/schemas/webhook.ts";
import type { Session } from "../../model/session.ts";
import {
  createWebhook,
  deleteWebhook,
  listWebhooks,
  rotateSecret,
  testWebhook,
  updateWebhook,
} from "../../webhook_wire.ts";
import { Time } from "../basics.tsx";
import { useNow } from "../hooks.ts";
import { ConfirmDialog, Outcome, Rows } from "./parts.tsx";
import { ShownSecret } from "./shown_secret.tsx";
import { useAction } from "./use_action.ts";
import { usePages } from "./use_pages.ts";
import { WebhookDeliveries } from "./webhook_deliveries.tsx";

const eventTexts: Readonly<Record<WebhookEvent, string>> = {
  "scan.end": "a scan ended, with its counts",
  "finding.created": "a completed scan found new failures",
  "finding.updated": "a monitor saw results change",
  "monitor.error": "a monitor cannot read the log, or stopped reporting",
};

type Question = { readonly kind: "delete" | "rotate"; readonly webhook: Webhook };

/** Whom the gateway tells what happens. */
export function WebhooksSettings({ session: { api } }: { readonly session: Session }) {
  const pages = usePages(useCallback((request) => listWebhooks(api, request), [api]));
  const action = useAction();
  const [shown, setShown] = useState<WebhookWithSecret | null>(null);
  const [question, setQuestion] = useState<Question | null>(null);
  const [opened, setOpened] = useState<string | null>(null);
  /** So that the deliveries that are shown are read again. */
  const [tests, setTests] = useState(0);
  useNow();
  const nowMs = api.nowMs();

  async function change(what: string, work: (signal: AbortSignal) => Promise<string>): Promise<boolean> {
    const isDone = await action.run(what, work);
    if (isDone) pages.reload();
    return isDone;
  }

  const create = (webhook: NewWebhook) =>
    change("add the webhook", async (signal) => {
      setShown(await createWebhook(api, webhook, signal));
      return "The webhook was added";
    });

  const setEnabled = ({ id, url }: Webhook, enabled: boolean) =>
    change("change the webhook", async (signal) => {
      await updateWebhook(api, { id, enabled }, signal);
      return `${hostOf(url)} is ${enabled ? "enabled" : "disabled"}`;
    });

  async function sendTest({ id, url }: Webhook): Promise<void> {
    const isDone = await action.run("send a test", async (signal) => {
      await testWebhook(api, id, signal);
      return `A test is on its way to ${hostOf(url)}`;
    });
    if (!isDone) return;
    setOpened(id);
    setTests((count) => count + 1);
  }

  const answer = ({ kind, webhook: { id, url } }: Question) =>
    kind === "delete"
      ? change("delete the webhook", async (signal) => {
          await deleteWebhook(api, id, signal);
          if (shown?.id === id) setShown(null);
          return `${hostOf(url)} was deleted`;
        })
      : change("replace the secret", async (signal) => {
          setShown(await rotateSecret(api, id, signal));
          return `${hostOf(url)} has a new secret`;
        });

  return (
    <>
      <NewWebhookForm isBusy={action.isBusy} create={create} />
      <Outcome action={action} />
      {shown !== null && (
        <ShownSecret
          label={`The secret of ${hostOf(shown.url)}`}
          fieldLabel={`Secret of ${hostOf(shown.url)}`}
          urge="Copy the secret now."
          note={`The receiver uses it to verify deliveries. It is not shown again.${
            shown.secret_rotated_at === null ? "" : " The previous secret stays valid for 24 hours."
          }`}
          text={shown.secret}
          onDone={() => setShown(null)}
        />
      )}
      <Rows
        pages={pages}
        label="Webhooks"
        emptyText="No webhooks yet."
        row={(webhook) => {
          const { id, url, enabled, events, format, created_at: createdAt } = webhook;
          const isOpen = opened === id;
          const button = (label: string, name: string, onClick: () => void) => (
            <button
              type="button"
              class="button button-quiet"
              disabled={action.isBusy}
              aria-label={`${name} ${hostOf(url)}`}
              onClick={onClick}
            >
              {label}
            </button>
          );
          return (
            <li key={id} class={`settings-row${enabled ? "" : " settings-over"}`}>
              <span class="grow">
                <span class="strong settings-name">{url}</span>
                <span class="fine">
                  {`${events.join(", ")} · ${format === "slack" ? "for Slack" : "JSON"} · created `}
                  <Time atMs={Date.parse(createdAt)} nowMs={nowMs} />
                </span>
              </span>
              <WebhookState webhook={webhook} />
              <span class="row wrap">
                <button
                  type="button"
                  class="button button-quiet"
                  aria-expanded={isOpen}
                  aria-label={`Deliveries to ${hostOf(url)}`}
                  onClick={() => setOpened(isOpen ? null : id)}
                >
                  Deliveries
                </button>
                {enabled && button("Test", "Send a test to", () => void sendTest(webhook))}
                {button(
                  enabled ? "Disable" : "Enable",
                  enabled ? "Disable" : "Enable",
                  () => void setEnabled(webhook, !enabled),
                )}
                {button("New secret", "New secret for", () => setQuestion({ kind: "rotate", webhook }))}
                {button("Delete", "Delete", () => setQuestion({ kind: "delete", webhook }))}
              </span>
              {isOpen && <WebhookDeliveries key={tests} api={api} webhook={webhook} />}
            </li>
          );
        }}
      />
      {question !== null && (
        <ConfirmDialog
          {...questionTexts(question)}
          onClose={() => setQuestion(null)}
          onConfirm={() => void answer(question)}
        />
      )}
    </>
  );
}

function questionTexts({ kind, webhook: { url } }: Question) {
  if (kind === "delete") {
    return {
      title: `Delete ${hostOf(url)}?`,
      text: "Nothing more is sent to it, and its list of deliveries is deleted.",
      confirm: "Delete",
    };
  }
  return {
    title: `Create a new secret for ${hostOf(url)}?`,
    text: "For 24 hours messages are signed with both secrets, so that you can update the receiver. After that, only the new one is used.",
    confirm: "Create secret",
  };
}

function WebhookState({ webhook: { enabled, disabled_reason: reason } }: { readonly webhook: Webhook }) {
  if (enabled) return null;
  if (reason === null) return <span class="badge tinted tone-none">Disabled</span>;
  const why = reason === "gone" ? "the receiver is gone" : "its API key has ended";
  return <span class="badge tinted tone-fail">Disabled: {why}</span>;
}

function NewWebhookForm(props: {
  readonly isBusy: boolean;
  readonly create: (webhook: NewWebhook) => Promise<boolean>;
}) {
  const { isBusy, create } = props;
  const url = useRef<HTMLInputElement>(null);
  const [format, setFormat] = useState<"json" | "slack">("json");
  const [chosen, setChosen] = useState<readonly WebhookEvent[]>(webhookEvents);

  async function submit(event: TargetedSubmitEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const input = url.current;
    if (input === null) return;
    if (await create({ url: input.value.trim(), events: chosen, format })) input.value = "";
  }

  return (
    <form class="settings-form" aria-label="Add a webhook" onSubmit={(event) => void submit(event)}>
      <label class="field grow">
        URL
        <input ref={url} type="url" name="url" autocomplete="off" maxLength={2048} required placeholder="https://…" />
      </label>
      <label class="field">
        Messages
        <select
          value={format}
          onChange={({ currentTarget }) => setFormat(currentTarget.value === "slack" ? "slack" : "json")}
        >
          <option value="json">JSON of the event</option>
          <option value="slack">text for Slack</option>
        </select>
      </label>
      <fieldset class="field scopes">
        <legend>Events</legend>
        {webhookEvents.map((name) => (
          <label key={name} class="row scope">
            <input
              type="checkbox"
              checked={chosen.includes(name)}
              onChange={({ currentTarget }) =>
                setChosen(
                  webhookEvents.filter((each) => (each === name ? currentTarget.checked : chosen.includes(each))),
                )
              }
            />
            <span>
              <span class="strong">{name}</span> <span class="fine">{eventTexts[name]}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <button type="submit" class="button button-primary" disabled={isBusy || chosen.length === 0}>
        Add webhook
      </button>
    </form>
  );
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
