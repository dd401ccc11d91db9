// Loaded into a process of ours before anything else (`node --import`): with each SIGUSR2 its clock is a minute and a
// second later, so that what is measured in minutes can be seen in a test of seconds.
const stepMs = 61_000;
let aheadMs = 0;
const { now } = Date;
Date.now = () => now() + aheadMs;

process.on("SIGUSR2", () => {
  aheadMs += stepMs;
  process.stderr.write(`The clock is ${aheadMs / stepMs} steps ahead\n`);
});
