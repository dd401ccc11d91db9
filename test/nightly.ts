import { spawnSync } from "node:child_process";

/** `npm run test:nightly`: what takes too long for `npm test`. Each runs whatever came of the others; exit code 1 when any failed. */
const programs: readonly (readonly string[])[] = [
  ["npx", "vitest", "run", "--project", "nightly"],
  ["npm", "run", "test:new"],
  ["npm", "run", "test:faults"],
  ["npm", "run", "test:bad-network"],
  ["npm", "run", "fuzz:provider"],
  ["npm", "run", "fuzz:orgs"],
  ["npm", "run", "fuzz:fixes"],
  ["npm", "run", "soak", "--", "--minutes", "5"],
  ["npm", "run", "fips"],
  ["npm", "run", "test:mutations"],
];
const failed = programs.filter(([command = "", ...args]) => {
  console.log(`\n> ${command} ${args.join(" ")}`);
  return spawnSync(command, args, { stdio: "inherit" }).status !== 0;
});
for (const program of failed) console.error(`failed: ${program.join(" ")}`);
console.log(`${programs.length - failed.length} passed, ${failed.length} failed`);
process.exitCode = failed.length === 0 ? 0 : 1;
