/** Who a command may speak to, by the setting that names it. Nothing is contacted that no setting names. */
const destinations = {
  okta: "the org of `IDP_ORG_URL`",
  gateway: "the gateway of `SCANSTREAM_URL`",
  database: "PostgreSQL of `DATABASE_URL`",
  broker: "Redis of `REDIS_URL`",
  issuer: "the issuer of `AUTH_JWKS_URL`",
  traces: "the collector of `OTEL_EXPORTER_OTLP_ENDPOINT`",
  webhooks: "webhooks that a tenant's admin registered",
  socket: "a socket below `.scanstream/`, which locks the folder",
} as const;

/** Where a command accepts connections. */
const listeners = {
  http: "`HOST`:`PORT`, default 127.0.0.1:8787",
  metrics: "`HOST`:`METRICS_PORT`, if set",
  socket: "that socket, mode 600",
  practice: "127.0.0.1:8788",
} as const;

export type Destination = keyof typeof destinations;
export type Listener = keyof typeof listeners;

/** Files or folders that a command makes; the mode is the one under umask 022. */
interface Written {
  readonly name: string;
  readonly path: RegExp;
  readonly mode: string;
}

/** What one kind of command connects to, listens on and writes. */
export interface Footprint {
  readonly commands: readonly string[];
  readonly connects: readonly Destination[];
  readonly listens: readonly Listener[];
  readonly writes: readonly Written[];
}

const output: readonly Written[] = [
  { name: "folders of `--output`", path: /^(?:report|plan)(?:\/pages)?$/, mode: "755" },
  { name: "reports, plans, statements", path: /^(?:report|plan)\/.+\.\w+$/, mode: "644" },
];
const evidence: Written = {
  name: "`--save-artifacts` and its statement",
  path: /^evidence\.(?:intoto\.)?json$/,
  mode: "644",
};
const state: Written = {
  name: "`.scanstream/`",
  path: /^\.scanstream(?:\/keys|\/follow|\/practice-org)?$/,
  mode: "700",
};

/** `docs/approval.md` shows this list, and `test/e2e/footprint.test.ts` compares it with what the kernel sees. */
export const footprints = {
  scan: {
    commands: ["scan", "collect"],
    connects: ["okta", "gateway"],
    listens: [],
    writes: [...output, evidence],
  },
  fix: { commands: ["fix"], connects: ["okta"], listens: [], writes: output },
  doctor: { commands: ["doctor"], connects: ["okta"], listens: [], writes: [] },
  setup: {
    commands: ["setup"],
    connects: ["okta"],
    listens: [],
    writes: [state, { name: "the private key", path: /^\.scanstream\/keys\/.+\.pem$/, mode: "600" }],
  },
  follow: {
    commands: ["follow"],
    connects: ["okta", "gateway", "socket"],
    listens: ["socket"],
    writes: [state, { name: "cursor and evidence", path: /^\.scanstream\/follow\/.+\.json$/, mode: "600" }],
  },
  offline: {
    commands: [
      "evaluate",
      "diff",
      "verify",
      "package",
      "keygen",
      "checks",
      "fix --from-artifacts",
      "history --from-reports",
    ],
    connects: [],
    listens: [],
    writes: [
      ...output,
      { name: "zip, public key", path: /^(?:okta\.zip|scanner\.key\.pub)$/, mode: "644" },
      { name: "the signing key", path: /^scanner\.key$/, mode: "600" },
    ],
  },
  gateway: {
    commands: ["scans", "findings", "report", "history", "decisions", "watch", "members", "keys", "audit", "webhooks"],
    connects: ["gateway"],
    listens: [],
    writes: [],
  },
  migrate: {
    commands: ["migrate", "admin with DATABASE_URL"],
    connects: ["database"],
    listens: [],
    writes: [],
  },
  practice: {
    commands: ["practice-org"],
    connects: [],
    listens: ["practice"],
    writes: [
      state,
      { name: "its key", path: /\.pem$/, mode: "600" },
      { name: "its address", path: /\/address$/, mode: "644" },
    ],
  },
  serve: {
    commands: ["serve"],
    connects: ["database", "broker", "issuer", "traces", "webhooks"],
    listens: ["http", "metrics"],
    writes: [],
  },
  embedded: {
    commands: ["serve without DATABASE_URL"],
    connects: ["socket", "issuer", "traces", "webhooks"],
    listens: ["http", "metrics", "socket"],
    writes: [
      state,
      { name: "secrets", path: /^\.scanstream\/\w+$/, mode: "600" },
      { name: "the database, below that folder", path: /^\.scanstream\/database/, mode: "any" },
    ],
  },
} as const satisfies Readonly<Record<string, Footprint>>;

/** The row of `docs/approval.md`. */
export function footprintRow({ commands, connects, listens, writes }: Footprint): string {
  const cell = (texts: readonly string[]) => (texts.length === 0 ? "none" : texts.join("; "));
  const cells = [
    commands.map((name) => `\`${name}\``).join(", "),
    cell(connects.map((name) => destinations[name])),
    cell(listens.map((name) => listeners[name])),
    cell(writes.map(({ name, mode }) => `${name} (${mode})`)),
  ];
  return `| ${cells.join(" | ")} |`;
}
