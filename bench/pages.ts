/** The module is loaded in this run only: it stands in for a browser, in this very process. */
export async function benchPages(say: (line: string) => void): Promise<unknown> {
  const { measurePageStorm } = await import("./page_storm.ts");
  const figures = await measurePageStorm(1000);
  const { toOpen, perMinute, toRecover, secondsToRecover, inMinuteOfRestart } = figures;
  say(
    `pages: ${figures.pages} · requests of one page: to open ${toOpen.toFixed(1)}, a minute ${perMinute.toFixed(1)}, ` +
      `after a restart ${toRecover.toFixed(1)} until all were live (${secondsToRecover.toFixed(0)} s), ${inMinuteOfRestart.toFixed(1)} in its minute`,
  );
  return figures;
}
