import { findDueTenant } from "../../drizzle/across_tenants.ts";
import type { Feature, FeatureDependencies, Task } from "./features.ts";

/** Steps of one run, and the next one goes on: all tasks together ask less of others than a Worker may in one go. */
const maxSteps = 50;

/** Does what is due. Never rejects. */
export async function runTask({ due, afterSeconds = 0, run }: Task, dependencies: FeatureDependencies): Promise<void> {
  try {
    for (let step = 0; step < maxSteps; step += 1) {
      const tenantId = await findDueTenant(dependencies.database, due, afterSeconds);
      if (tenantId === null || !(await run(tenantId, dependencies))) return;
    }
  } catch (error) {
    dependencies.log.warn({ error, due }, "what is due could not be done");
  }
}

/** Does each task once. */
export async function runTasks(features: readonly Feature[], dependencies: FeatureDependencies): Promise<void> {
  await Promise.all(tasksOf(features).map((task) => runTask(task, dependencies)));
}

/** Does each task again and again, never two runs of it at once; returns how to stop. */
export function repeatTasks(features: readonly Feature[], dependencies: FeatureDependencies): () => void {
  const timers = new Map<Task, ReturnType<typeof setTimeout>>();
  const runIn = (task: Task, ms: number) =>
    timers.set(
      task,
      setTimeout(() => void runOnce(task), ms),
    );
  const runOnce = async (task: Task) => {
    await runTask(task, dependencies);
    if (timers.has(task)) runIn(task, task.everyMs);
  };
  for (const task of tasksOf(features)) runIn(task, task.firstAfterMs);
  return () => {
    for (const timer of timers.values()) clearTimeout(timer);
    timers.clear();
  };
}

function tasksOf(features: readonly Feature[]): readonly Task[] {
  return features.flatMap(({ tasks = [] }) => tasks);
}
