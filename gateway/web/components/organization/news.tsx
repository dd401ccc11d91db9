import { countOf } from "../../../../shared/outcome_text.ts";
import { categoryNames } from "../../../../shared/severity.ts";
import { checkTitle } from "../../model/check_catalog.ts";
import { dayMs, isolated } from "../../model/format.ts";
import { byWhom, isWorst, movedText, remedyOf, type NewsItem } from "../../model/news.ts";
import { Icon, Time } from "../basics.tsx";

interface NewsLineProps {
  readonly item: NewsItem;
  /** The organization's, where it is not said already. */
  readonly name?: string;
  readonly href: string;
  readonly nowMs: number;
}

const icons = { worse: "fail", over: "fail", better: "pass", other: "manual" } as const;

/** One act or discovery: the rule, the time, who did it, what it moved, and the way to the fix. */
export function NewsLine({ item, name, href, nowMs }: NewsLineProps) {
  const { kind, change, changes, atMs } = item;
  const isCatI = isWorst(item);
  const remedy = remedyOf(item);
  const rules = new Set(changes.map(({ check }) => check)).size;
  return (
    <li class={`news-line news-${kind}${isCatI ? " news-worst" : ""}`}>
      <Icon name={icons[kind]} />
      <span class={isCatI ? "strong-fail" : "fine"}>{categoryNames[change.rule.severity]}</span>
      <a href={href}>
        {name !== undefined && <span>{`${name}: `}</span>}
        {checkTitle(change.check)}
      </a>
      <Time atMs={atMs} isClockOnly={nowMs - atMs < dayMs} />
      <span class="news-who">
        {`${movedText(item)} · ${byWhom(item)}`}
        {change.resource.name !== "" && ` · ${isolated(change.resource.name)}`}
        {changes.length > 1 && ` · ${countOf(changes.length, "result")} of ${countOf(rules, "rule")}`}
      </span>
      <span class="news-values">
        <span class="fine">{change.actual.slice(0, 300)}</span>
        {remedy !== null && <span>{`${change.actual === "" ? "" : " · "}Fix: ${remedy}`}</span>}
      </span>
      {kind === "worse" && (
        <a class="fix" href={href}>
          fix
          <Icon name="chevron" />
        </a>
      )}
    </li>
  );
}

/** Tells screen readers the newest of the news when it comes, and how many others there are: one text, which they say once. */
export function Announcement({ news }: { readonly news: readonly (NewsItem & { readonly name?: string })[] }) {
  const [newest] = news.toSorted((a, b) => b.atMs - a.atMs);
  const others = news.length > 1 ? ` And ${countOf(news.length - 1, "more change")}.` : "";
  return (
    <p class="visually-hidden" role="status">
      {newest !== undefined &&
        `${newest.name === undefined ? "" : `${newest.name}: `}${checkTitle(newest.change.check)}, ` +
          `${newest.change.resource.name}: ${movedText(newest)}, ${byWhom(newest)}.${others}`}
    </p>
  );
}
