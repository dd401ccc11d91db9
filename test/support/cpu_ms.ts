/** CPU time of this process so far: the machine may have other things to do. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
