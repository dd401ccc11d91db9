import { useRef, useState } from "preact/hooks";

/** The one time that a secret is shown. */
export function ShownSecret(props: {
  /** For the group, and of the field. */
  readonly label: string;
  readonly fieldLabel: string;
  readonly urge: string;
  readonly note: string;
  readonly text: string;
  readonly onDone: () => void;
}) {
  const { label, fieldLabel, urge, note, text, onDone } = props;
  const field = useRef<HTMLInputElement>(null);
  const [copied, setCopied] = useState("");

  async function copy(): Promise<void> {
    field.current?.select();
    try {
      await navigator.clipboard.writeText(text);
      setCopied("Copied");
    } catch {
      // Not in an unencrypted page; it is selected, for Ctrl-C.
      setCopied("Selected: copy it with Ctrl-C");
    }
  }

  return (
    <div class="notice stack shown-key" role="group" aria-label={label}>
      <p>
        <strong>{urge}</strong> {note}
      </p>
      <div class="row wrap">
        <input ref={field} class="credential grow" readOnly value={text} aria-label={fieldLabel} />
        <button type="button" class="button button-primary" onClick={() => void copy()}>
          Copy
        </button>
        <button type="button" class="button" onClick={onDone}>
          Done
        </button>
      </div>
      <p class="fine" role="status">
        {copied}
      </p>
    </div>
  );
}
