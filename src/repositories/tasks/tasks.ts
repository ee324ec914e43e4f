import type { ShownDelivery, TaskState } from '../../../packages/core/src/domain/tasks.ts';
import { type MessageRow, messageColumns } from '../messages/messages.ts';
import { query, statement } from '../queryable.ts';
import { lastSeenAt } from '../agents/presence.ts';
import { dropCanceled } from '../inbox/claims.ts';
import { repository, sql } from '../sql.ts';
import { deliveryOf, taskMarks, type TaskRow } from './task-row.ts';
import { type TaskWrites, toJson, writing } from './writing.ts';

/** A task with the marks of the asked agent. */
export interface ViewedTaskRow extends TaskRow {
  delivery: ShownDelivery;
  agent_last_seen_at: number | null;
}

export interface TaskMessageRow extends MessageRow {
  artifact: boolean;
  data: unknown;
}

export interface TaskFilter {
  role: 'asked' | 'asking' | null;
  state: TaskState | 'open' | null;
  thread_id: string | null;
  overdue: boolean;
  after: { updated_at: number; id: string } | null;
  limit: number;
}

const fields = `t.id, t.thread_id, t.message_id, t.sequence, t.client_id, t.agent_id, t.state, t.generation, t.due_at, t.overdue_at,
  t.accepted_output_modes, t.asks_person, t.lease_token, t.created_at, t.updated_at, t.expires_at, t.ended_at`;

/** Needs tasks `t`, and the agents `c` and `a`. */
const columns = `${fields}, c.canonical_handle as client_handle, a.canonical_handle as agent_handle`;

const taskParties = 'join agents c on c.id = t.client_id join agents a on a.id = t.agent_id';

const delivery = deliveryOf('t.sequence');

/** Null, unless an agent of another system is asked that has not accepted the message. */
const remoteDelivery = `case when a.scope = 'remote' then (
    select case when count(*) > 0 then nullif(min(r.outcome), 'accepted') when t.ended_at is null then 'sending' end
    from remote_messages r where r.message_id = t.message_id) end`;

/** Needs tasks `t` with `taskParties` and `taskMarks`. With when the asked agent was last online, if the viewer may see it: as in `seenAgents`. */
const viewedTaskColumns = (
  viewer: string,
): string => `${columns}, coalesce(t.ended_delivery, ${remoteDelivery}, ${delivery}) as delivery,
  case when a.id = ${viewer} or a.visibility <> 'private'
    or m.agent_id is not null and exists (select from thread_members v where v.thread_id = t.thread_id and v.agent_id = ${viewer})
  then ${lastSeenAt} end as agent_last_seen_at`;

/** For tasks `t` of one role of the agent. One index scan for each role, so that a page reads as many rows as it has. */
const ofRole = (column: 'client_id' | 'agent_id', role: string) => `
  select t.* from tasks t
  where t.${column} = :agent_id and (:role::text is null or :role = '${role}') and (:thread_id::text is null or t.thread_id = :thread_id)
    and (:state::text is null or t.state = :state or :state = 'open' and t.ended_at is null)
    and (not :overdue::boolean or t.ended_at is null and t.overdue_at is not null)
    and (:updated_at::bigint is null or (t.updated_at, t.id) < (:updated_at, :id))
  order by t.updated_at desc, t.id desc limit :limit`;

/** Locks tasks that no other transaction has locked, and reads them with their agents. */
function locked(condition: string): string {
  return `with locked as materialized (select * from tasks where ${condition} limit :limit for update skip locked)
     select ${columns} from locked t ${taskParties}`;
}

/** Locks of tasks that two statements need: after a wait, the second statement sees what was committed meanwhile. */
const locks = {
  tasks: statement('tasks.lock', `select id from tasks where id = any(:ids::text[]) order by id for update`),
  open: lockOpen('tasks.lock_open_in_threads'),
  openUnlocked: lockOpen('tasks.lock_unlocked_in_threads', 'skip locked'),
};

function lockOpen(name: string, mode = '') {
  return statement(
    name,
    `select id from tasks where thread_id = any(:thread_ids::text[]) and ended_at is null order by id for update ${mode}`,
  );
}

/** Tasks, their messages, and their updates. */
export const tasksRepository = repository(
  {
    /** The task, if the viewer is one of its two agents. */
    find: sql.row<[id: string, viewerId: string], ViewedTaskRow>(
      'tasks.find(id, viewer_id)',
      `select ${viewedTaskColumns(':viewer_id')} from tasks t ${taskParties} ${taskMarks} where t.id = :id and :viewer_id in (t.client_id, t.agent_id)`,
    ),
    read: sql.rows<[ids: readonly string[]], TaskRow>(
      'tasks.read',
      `select ${columns} from tasks t ${taskParties} where t.id = any(:ids::text[])`,
    ),
    /** Oldest first. */
    listOpenInThreads: sql.rows<[threadIds: readonly string[]], TaskRow>(
      'tasks.list_open_in_threads',
      `select ${columns} from tasks t ${taskParties} where t.thread_id = any(:thread_ids::text[]) and t.ended_at is null order by t.id`,
    ),
    /** The open tasks of a thread, and those that these messages opened, with one of these agents as a side. Oldest first. */
    listShown: sql.rows<
      [threadId: string, agentIds: readonly string[], messageIds: readonly string[], limit: number],
      TaskRow
    >(
      'tasks.list_shown(thread_id, agent_ids, message_ids, limit)',
      `with found as (
         select id from tasks where thread_id = :thread_id and ended_at is null
         union select task_id from task_messages where message_id = any(:message_ids::text[])
       )
       select ${columns} from found join tasks t using (id) ${taskParties}
       where t.thread_id = :thread_id and (t.client_id = any(:agent_ids::text[]) or t.agent_id = any(:agent_ids::text[]))
         and (t.ended_at is null or t.message_id = any(:message_ids::text[]))
       order by t.id limit :limit`,
    ),
    /** The open tasks in which these messages of these threads ask the agent. */
    listOpenOfMessages: sql.rows<
      [agentId: string, messageIds: readonly string[], threadIds: readonly string[]],
      TaskRow
    >(
      'tasks.list_open_of_messages(agent_id, message_ids, thread_ids)',
      `select ${columns} from tasks t ${taskParties}
       where t.thread_id = any(:thread_ids::text[]) and t.ended_at is null and t.agent_id = :agent_id and t.message_id = any(:message_ids::text[])`,
    ),
    /** The task of each of these messages that belongs to one; of one that belongs to two, the newer is last. */
    listMessageTasks: sql.rows<[messageIds: readonly string[]], { message_id: string; task_id: string }>(
      'tasks.list_message_tasks',
      'select message_id, task_id from task_messages where message_id = any(:message_ids::text[]) order by task_id',
    ),
    /** How many tasks of the client the agent has to answer. */
    countOpen: sql.value<[clientId: string, agentId: string], number>(
      'tasks.count_open(client_id, agent_id)',
      `select count(*)::int from tasks where client_id = :client_id and agent_id = :agent_id and ended_at is null`,
    ),
    /** The tasks of an agent, newest change first. */
    list: sql.rows<[agentId: string, filter: TaskFilter], ViewedTaskRow>(
      'tasks.list',
      `select ${viewedTaskColumns(':agent_id')} from ((${ofRole('agent_id', 'asked')}) union all (${ofRole('client_id', 'asking')})) t
       ${taskParties} ${taskMarks} order by t.updated_at desc, t.id desc limit :limit`,
      (agent_id, { after, ...conditions }) => ({
        agent_id,
        ...conditions,
        updated_at: after?.updated_at ?? null,
        id: after?.id ?? '',
      }),
    ),
    /** The last messages of a task, oldest first. */
    listMessages: sql.rows<[taskId: string, limit: number], TaskMessageRow>(
      'tasks.list_messages(task_id, limit)',
      `select ${messageColumns}, k.artifact, k.data
       from (select * from task_messages where task_id = :task_id order by sequence desc limit :limit) k
       join messages m on m.id = k.message_id join agents a on a.id = m.sender_id order by k.sequence`,
    ),
    /** The first message of a task after a sequence that another agent than this one sent. */
    findFirstOfOthers: sql.row<[taskId: string, afterSequence: number, agentId: string], MessageRow>(
      'tasks.find_first_of_others(task_id, after_sequence, agent_id)',
      `select ${messageColumns} from task_messages k join messages m on m.id = k.message_id join agents a on a.id = m.sender_id
       where k.task_id = :task_id and k.sequence > :after_sequence and m.sender_id <> :agent_id order by k.sequence limit 1`,
    ),
    /** Writes new and changed tasks with their rows of updates, and which messages belong to them. */
    write: sql.run<[writes: TaskWrites]>('tasks.write', writing, toJson),
    /** Another message asks now, because it replaces the first one. */
    setQuestion: sql.run<[task: Pick<TaskRow, 'id' | 'message_id' | 'sequence'>]>(
      'tasks.set_question',
      'update tasks set message_id = :message_id, sequence = :sequence where id = :id',
    ),
    /** The open tasks of an agent, on either side. */
    listOpenOf: sql.values<[agentId: string], string>(
      'tasks.list_open_of',
      `select id from tasks where client_id = :agent_id and ended_at is null union all select id from tasks where agent_id = :agent_id and ended_at is null`,
    ),
    /** Locks open tasks whose due time has passed for the first time. */
    lockDue: sql.rows<[now: number, limit: number], TaskRow>(
      'tasks.lock_due(now, limit)',
      locked(
        'ended_at is null and overdue_at is null and due_at is not null and due_at <= :now order by due_at',
      ),
    ),
    /** Locks open tasks that have not changed for TASK_DAYS. */
    lockExpired: sql.rows<[now: number, limit: number], TaskRow>(
      'tasks.lock_expired(now, limit)',
      locked('expires_at <= :now and ended_at is null order by expires_at'),
    ),
    /**
     * Removes tasks that ended TASK_DAYS ago; returns how many. Their messages stay, and those of other installations are still known to have
     * arrived. No inbox returns canceled ones.
     */
    removeExpired: sql.rowCount<[now: number, limit: number]>(
      'tasks.remove_expired(now, limit)',
      `with ended as materialized (select id, thread_id, agent_id, state from tasks where expires_at <= :now and ended_at is not null order by expires_at limit :limit),
       dropped as (${dropCanceled('ended')}),
       arrived as (
         insert into remote_updates (thread_id, key, message_id)
         select r.thread_id, w.client_message_id, w.message_id from ended e join a2a_messages w on w.task_id = e.id
         join remote_threads r on r.thread_id = e.thread_id and r.agent_id = w.client_id order by 1, 2 on conflict do nothing)
       delete from tasks where id in (select id from ended) returning 1`,
    ),
    /** Binds a locked task to another lease of the same item. */
    moveLease: sql.run<[id: string, from: number, to: number]>(
      'tasks.move_lease(id, from, to)',
      'update tasks set lease_token = :to where id = :id and lease_token = :from',
    ),
    /** Notes that sends in a locked thread need not look at tasks, unless one is open. */
    clearQuestions: sql.run<[threadIds: readonly string[]]>(
      'tasks.clear_questions',
      `update threads h set has_questions = false where id = any(:thread_ids::text[])
         and not exists (select from tasks where thread_id = h.id and ended_at is null)
         and not exists (select from expected_replies where thread_id = h.id)`,
    ),
  },
  (db, { read, listOpenInThreads }) => {
    async function lockOpenInThreads(
      thread_ids: readonly string[],
      { wait }: { wait: boolean },
    ): Promise<Map<string, TaskRow[]>> {
      const [lockedRows, tasks] = await Promise.all([
        query<{ id: string }>(db, wait ? locks.open : locks.openUnlocked, { thread_ids }),
        listOpenInThreads(thread_ids),
      ]);
      const openOf = new Map(thread_ids.map((id): [string, TaskRow[]] => [id, []]));
      for (const task of tasks) openOf.get(task.thread_id)?.push(task);
      const lockedIds = new Set(lockedRows.map(({ id }) => id));
      for (const { id, thread_id } of tasks) if (!lockedIds.has(id)) openOf.delete(thread_id);
      return openOf;
    }

    return {
      /** Locks tasks in the order of their ids until the transaction ends. */
      async lock(ids: readonly string[]): Promise<TaskRow[]> {
        const [, tasks] = await Promise.all([query(db, locks.tasks, { ids }), read(ids)]);
        return tasks;
      },
      /**
       * As `lock`, for the open tasks of locked threads, oldest first.
       * @param options.wait whether to wait for tasks that another transaction has locked; otherwise their threads are left out.
       */
      lockOpenInThreads,
      /** As `lockOpenInThreads`, for one thread. */
      lockOpenInThread: async (threadId: string): Promise<TaskRow[]> =>
        (await lockOpenInThreads([threadId], { wait: true })).get(threadId) ?? [],
    };
  },
);
