import { findDueTenant } from "../../drizzle/across_tenants.ts";
import { pause } from "../../shared/abortable.ts";
import type { Feature, FeatureDependencies, Task } from "./features.ts";

type Working = Pick<Feature, "tasks">;

/** The most steps of one run; the next run continues. All tasks together stay below the subrequests of one Worker invocation. */
const maxSteps = 50;

/** Does what is due. Never rejects. */
async function runTask({ due, afterSeconds = 0, run }: Task, dependencies: FeatureDependencies): Promise<void> {
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
export async function runTasks(features: readonly Working[], dependencies: FeatureDependencies): Promise<void> {
  await Promise.all(tasksOf(features).map((task) => runTask(task, dependencies)));
}

/** Does each task again and again, never two runs of it at once; returns how to stop. */
export function repeatTasks(features: readonly Working[], dependencies: FeatureDependencies): () => void {
  const stopping = new AbortController();
  for (const task of tasksOf(features)) void repeat(task);
  return () => stopping.abort();

  async function repeat(task: Task): Promise<void> {
    await pause(task.firstAfterMs, [stopping.signal]);
    while (!stopping.signal.aborted) {
      await runTask(task, dependencies);
      await pause(task.everyMs, [stopping.signal]);
    }
  }
}

function tasksOf(features: readonly Working[]): readonly Task[] {
  return features.flatMap(({ tasks = [] }) => tasks);
}
