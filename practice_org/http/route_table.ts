export interface Route<Action> {
  /** Segments that vary are `*`. */
  readonly path: string;
  /** Without its prefix. Null: the endpoint needs no token. */
  readonly scope: string | null;
  /** Requests of one bucket share a rate limit: the provider limits by family, `/api/v1/apps` with all that is below. */
  readonly bucket: string;
  readonly action: Action;
}

/** A route, and the segments of the request where its path has `*`. */
export interface FoundRoute<Action> extends Route<Action> {
  readonly segments: readonly string[];
}

export function routesOf<Action>(
  table: Readonly<Record<string, readonly [scope: string | null, action: Action]>>,
): readonly Route<Action>[] {
  return Object.entries(table).map(([path, [scope, action]]) => {
    return { path, scope, bucket: path.split("/")[3] ?? "well-known", action };
  });
}

/** The first route that fits; null where none does. */
export function findRoute<Action>(routes: readonly Route<Action>[], path: string): FoundRoute<Action> | null {
  const asked = path.split("/");
  for (const route of routes) {
    const wanted = route.path.split("/");
    const fits = (segment: string, index: number) =>
      segment === asked[index] || (segment === "*" && asked[index] !== "");
    if (wanted.length !== asked.length || !wanted.every(fits)) continue;
    return { ...route, segments: asked.filter((_, index) => wanted[index] === "*") };
  }
  return null;
}

/** Every scope of these routes, without prefix. */
export function scopesOf(routes: readonly Route<unknown>[]): readonly string[] {
  return [...new Set(routes.flatMap(({ scope }) => scope ?? []))];
}
