import type { TaskState } from '../../../packages/core/src/domain/tasks.ts';

/** A task. Times in milliseconds. */
export interface TaskRow {
  id: string;
  thread_id: string;
  message_id: string;
  /** Of the asking message. */
  sequence: number;
  client_id: string;
  client_handle: string;
  agent_id: string;
  agent_handle: string;
  state: TaskState;
  generation: number;
  due_at: number | null;
  overdue_at: number | null;
  accepted_output_modes: string[];
  /** Whether a person should answer. */
  asks_person: boolean;
  /** The fencing token of the lease that made it `working`; null if the agent said so itself. */
  lease_token: number | null;
  created_at: number;
  updated_at: number;
  expires_at: number;
  ended_at: number | null;
}

/** The asked member `m` of tasks `t`. */
export const taskMarks =
  'left join thread_members m on m.thread_id = t.thread_id and m.agent_id = t.agent_id';

/** For tasks `t` and the asked member `m`. */
export const deliveryOf = (sequence: string): string =>
  `case when m.handled_sequence >= ${sequence} then 'handled' when m.read_sequence >= ${sequence} then 'read'
  when m.delivered_sequence >= ${sequence} then 'delivered' else 'stored' end`;
