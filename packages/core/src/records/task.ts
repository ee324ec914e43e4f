import { z } from 'zod';
import { type ShownDelivery, shownDeliveries, type TaskState, taskStates } from '../domain/tasks.ts';
import { agentRef, timestamp } from './agent.ts';
import { exampleAgents, exampleMessage, exampleQuestion } from './examples.ts';
import {
  type MessageColumns,
  messageId,
  messageSchema,
  presentMessage,
  threadIdentifier,
} from './message.ts';

export const taskIdentifier = z.string().meta({ pattern: '^tsk_' }).describe('Task identifier, tsk_…');

/** The fields of a task that its events have too. */
export const taskEventFields = {
  id: taskIdentifier,
  thread_id: threadIdentifier,
  message_id: messageId.describe('The message that asks.'),
  client: agentRef.describe('The agent that asks.'),
  agent: agentRef.describe('The agent that is asked.'),
  state: z
    .enum(taskStates)
    .describe(
      'submitted: not begun. working: an instance of the agent works on it. input_required, auth_required: it waits for the client. The others: it has ended.',
    ),
  generation: z.int().min(1).describe('Rises by one with each change.'),
  due_at: timestamp.nullable().describe('When the client wants the answer; null if it did not say.'),
  overdue: z.boolean().describe('Whether due_at passed while the task was open.'),
  accepted_output_modes: z.array(z.string()).describe('Media types that the client accepts; empty for any.'),
  created_at: timestamp,
  updated_at: timestamp.describe('When it last changed.'),
  expires_at: timestamp.describe('When it fails without a change, or is removed if it has ended.'),
};

/** Task record. */
export const taskSchema = z
  .object({
    ...taskEventFields,
    delivery: z
      .enum(shownDeliveries)
      .describe(
        'Whether the message that asks is stored, delivered to the asked agent, read or handled by it. At agents of other systems also sending, undeliverable, unknown.',
      ),
    agent_last_seen_at: timestamp
      .nullable()
      .describe('When the asked agent was last connected. Null if never, or hidden from you.'),
  })
  .meta({ id: 'Task' })
  .describe('A question of one agent to another, which stays open until it is answered or ended.');

export type TaskRecord = z.infer<typeof taskSchema>;

const taskMessageSchema = messageSchema
  .extend({
    artifact: z.boolean().describe('Whether the asked agent marked it as a result.'),
    data: z.unknown().describe('The JSON that the asked agent sent with it; null without.'),
  })
  .meta({ id: 'TaskMessage' })
  .describe('A message of a task.');

/** Task record with its messages. */
export const taskWithMessagesSchema = taskSchema
  .extend({ messages: z.array(taskMessageSchema).describe('Its last 100 messages, oldest first.') })
  .meta({ id: 'TaskWithMessages' })
  .describe('A task with its messages.');

export interface TaskColumns {
  id: string;
  thread_id: string;
  message_id: string;
  client_id: string;
  client_handle: string;
  agent_id: string;
  agent_handle: string;
  state: TaskState;
  generation: number;
  due_at: number | null;
  overdue_at: number | null;
  accepted_output_modes: readonly string[];
  created_at: number;
  updated_at: number;
  expires_at: number;
}

export interface ViewedTaskColumns extends TaskColumns {
  delivery: ShownDelivery;
  agent_last_seen_at: number | null;
}

export interface TaskMessageColumns extends MessageColumns {
  artifact: boolean;
  data: unknown;
}

/** Returns a task as its events have it, from a row that may have more columns. */
export function presentTaskState(row: TaskColumns) {
  const { id, thread_id, message_id, state, generation, due_at, created_at, updated_at, expires_at } = row;
  return {
    id,
    thread_id,
    message_id,
    client: { id: row.client_id, canonical_handle: row.client_handle },
    agent: { id: row.agent_id, canonical_handle: row.agent_handle },
    state,
    generation,
    due_at,
    overdue: row.overdue_at !== null,
    accepted_output_modes: [...row.accepted_output_modes],
    created_at,
    updated_at,
    expires_at,
  };
}

/** Returns a task as one of its two agents sees it. */
export function presentTask(row: ViewedTaskColumns): TaskRecord {
  const { delivery, agent_last_seen_at } = row;
  return { ...presentTaskState(row), delivery, agent_last_seen_at };
}

/** Returns a message of a task. */
export function presentTaskMessage(row: TaskMessageColumns): z.infer<typeof taskMessageSchema> {
  return { ...presentMessage(row), artifact: row.artifact, data: row.data ?? null };
}

/** The task of the example question, before and after its answer. */
export const exampleTask: TaskRecord = {
  id: 'tsk_01K9ZX5P7S0T4W6X8Y0A2C3D4G',
  thread_id: exampleQuestion.thread_id,
  message_id: exampleQuestion.id,
  client: exampleAgents.planner,
  agent: exampleAgents.support,
  state: 'submitted',
  generation: 1,
  due_at: exampleQuestion.created_at + 7_200_000,
  overdue: false,
  accepted_output_modes: [],
  created_at: exampleQuestion.created_at,
  updated_at: exampleQuestion.created_at,
  expires_at: exampleQuestion.created_at + 2_592_000_000,
  delivery: 'delivered',
  agent_last_seen_at: exampleQuestion.created_at,
};

export const exampleEndedTask: TaskRecord = {
  ...exampleTask,
  state: 'completed',
  generation: 3,
  updated_at: exampleMessage.created_at,
  expires_at: exampleMessage.created_at + 2_592_000_000,
  delivery: 'handled',
};

export const exampleTaskMessages = [
  { ...exampleQuestion, artifact: false, data: null },
  { ...exampleMessage, artifact: true, data: null },
];
