import { z } from 'zod';
import { isOpenTask, isSettledTask } from '../../../packages/core/src/domain/tasks.ts';
import { presentTask, type TaskForm } from '../../presenters/a2a/task.ts';
import { toFileAddress } from '../../services/a2a/files.ts';
import type { ClientTask } from '../../services/a2a/tasks.ts';
import type { Work } from '../../work/unit-of-work.ts';

/** A task as A2A shows it (A2A 1.0, section 4.1.1). `src/presenters/a2a` makes it. */
export const wireTask = z
  .looseObject({ id: z.string(), contextId: z.string(), status: z.looseObject({ state: z.string() }) })
  .describe('A task of A2A.');

/** A task, with what a transport needs to know to wait for it. */
export const shownTask = z.object({
  task: wireTask,
  generation: z.int().min(1),
  is_open: z.boolean(),
  /** Whether it has ended, or waits for its client. */
  is_settled: z.boolean(),
  /** Every later change of the task has an event of the client after this position. */
  feed_number: z.int(),
});

/** The fields of the input that the transport sets, besides what the client sends. */
export const transportFields = {
  agent: z.string().describe('The handle of the address.'),
  has_mailbox: z.boolean().default(false).describe('Whether the client named the mailbox extension.'),
};

/** Without a limit of the client, the history has this many messages. */
export const maxHistory = 100;

/** How tasks are shown to the caller of a unit of work. */
export const toTaskForm = (work: Work, hasMailbox: boolean): TaskForm => ({
  fileUrl: (id) => toFileAddress(work, id),
  hasMailbox,
});

/** Returns a task for `shownTask`. */
export function showTask(
  work: Work,
  task: ClientTask,
  {
    historyLength,
    hasMailbox,
    ...conversation
  }: Pick<TaskForm, 'hasMailbox' | 'predecessors' | 'marks'> & {
    historyLength: number;
  },
): z.infer<typeof shownTask> {
  const parts = { messages: task.messages, hasArtifacts: true, historyLength };
  return {
    task: presentTask(task, parts, { ...toTaskForm(work, hasMailbox), ...conversation }),
    generation: task.generation,
    is_open: isOpenTask(task.state),
    is_settled: isSettledTask(task.state),
    feed_number: task.feed_number,
  };
}

/** A task of the examples. */
export const exampleShownTask = {
  task: {
    id: 'tsk_01K9ZX5P7S0T4W6X8Y0A2C3D4G',
    contextId: 'thd_01K9ZX5N3Q8R2T4V6W8X0Y2A4C',
    status: { state: 'TASK_STATE_SUBMITTED', timestamp: '2025-11-14T09:00:00.000Z' },
  },
  generation: 1,
  is_open: true,
  is_settled: false,
  feed_number: 12,
};

/** What errors a call about a task has. */
export const taskErrors = ['TASK_NOT_FOUND', 'AGENT_NOT_FOUND'] as const;

/** The handle of the examples. */
export const exampleAgent = 'globex.support';
