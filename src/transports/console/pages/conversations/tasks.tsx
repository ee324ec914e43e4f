import { isWaitingForClient } from '../../../../../packages/core/src/domain/tasks.ts';
import { cancelTaskOperation } from '../../../../operations/tasks/cancel-task.ts';
import { updateTaskOperation } from '../../../../operations/tasks/update-task.ts';
import type { ConversationPage } from '../../../../services/threads/conversation-page.ts';
import { actAsAgent } from '../../act-as-agent.ts';
import { Badge } from '../../components/content.tsx';
import { PostButton } from '../../components/form.tsx';
import { useLayoutContext } from '../../components/layout-context.ts';
import { Handle, Time } from '../../components/rows.tsx';
import { redirectOrWarn } from '../../form-errors.ts';
import { action } from '../../route.ts';
import { formatTime } from '../../time-zone.ts';
import { ReplyButton } from './draft.tsx';
import { conversationAddress, conversationsAddress } from './filters.tsx';

type Task = ConversationPage['tasks'][number];
type OwnAgent = ConversationPage['conversation']['agents'][number];

/** How the states of tasks are shown. */
export const taskLabels = {
  submitted: { label: 'Not begun', tone: 'warning' },
  working: { label: 'Working', tone: 'accent' },
  input_required: { label: 'Waits for an answer', tone: 'warning' },
  auth_required: { label: 'Waits for a sign-in', tone: 'warning' },
  completed: { label: 'Completed', tone: 'good' },
  failed: { label: 'Failed', tone: 'danger' },
  canceled: { label: 'Canceled', tone: 'plain' },
  rejected: { label: 'Rejected', tone: 'danger' },
} as const satisfies Record<Task['state'], object>;

const isOpen = ({ ended_at }: Task): boolean => ended_at === null;
const isOverdue = (task: Task): boolean => isOpen(task) && task.overdue_at !== null;

/** An answer to an open task, and the agent of the reader that gives it. */
export interface Answer {
  task: Task;
  agent: OwnAgent;
}

/** The answer that a message of the reader can give to the task that a message opened: from the client only while the task waits for it. */
export function findAnswer(
  { conversation, tasks }: ConversationPage,
  message_id: string,
): Answer | undefined {
  const task = tasks.find((each) => each.message_id === message_id && isOpen(each));
  if (!task) return undefined;
  const answering = isWaitingForClient(task.state) ? task.client_id : task.agent_id;
  const agent = conversation.agents.find(({ id }) => id === answering);
  return agent && { task, agent };
}

const maxNamed = 3;

/** One line about the open tasks of a conversation. */
export function OpenTasks({ page }: { page: ConversationPage }) {
  const open = page.tasks.filter(isOpen);
  if (open.length === 0) return null;
  return (
    <p class="agent-line" id="open-tasks" aria-live="off">
      <strong>{open.length === 1 ? '1 open task:' : `${open.length} open tasks:`}</strong>{' '}
      {open.slice(0, maxNamed).map((task) => (
        <span key={task.id}>
          <a href={addressOf(task)}>
            <Handle of={task.client_handle} /> asked <Handle of={task.agent_handle} />
          </a>{' '}
          <Time at={task.created_at} /> {isOverdue(task) && <Badge tone="danger">Overdue</Badge>}
        </span>
      ))}
      {open.length > maxNamed && <span>and {open.length - maxNamed} more</span>}
    </p>
  );
}

/** The page at the message that asks. */
const addressOf = ({ thread_id, sequence, message_id }: Task): string =>
  `${conversationAddress(thread_id)}?at=${sequence}#${message_id}`;

/** The state of the task that a message opened, and what the reader can do about it. */
export function MessageTask({ page, message_id }: { page: ConversationPage; message_id: string }) {
  const task = page.tasks.find((each) => each.message_id === message_id);
  if (!task) return null;
  const { state, client_handle, agent_handle, created_at, due_at, ended_at } = task;
  const { label, tone } = taskLabels[state];
  return (
    <>
      <p class="hint">
        <Badge tone={tone}>{label}</Badge> {isOverdue(task) && <Badge tone="danger">Overdue</Badge>}{' '}
        <Handle of={client_handle} /> asks <Handle of={agent_handle} />, since <Moment at={created_at} />
        {due_at !== null && [', due ', <Moment at={due_at} />]}
        {ended_at !== null && [', ended ', <Moment at={ended_at} />]}
      </p>
      {isOpen(task) && <TaskButtons page={page} task={task} />}
    </>
  );
}

/** A time that is not relative: else the message would change with every update of the page, and be read out again. */
function Moment({ at }: { at: number }) {
  const { timeZone } = useLayoutContext();
  return (
    <time dateTime={new Date(at).toISOString()}>
      {formatTime(at, timeZone, { dateStyle: 'medium', timeStyle: 'short' })}
    </time>
  );
}

function TaskButtons({ page, task }: { page: ConversationPage; task: Task }) {
  const { id, thread_id, message_id, client_id, agent_id, client_handle, agent_handle } = task;
  const address = `${conversationAddress(thread_id)}/tasks/${id}`;
  const isOwn = (wanted: string) => page.conversation.agents.some((agent) => agent.id === wanted);
  return (
    <div class="button-pair">
      {page.conversation.status === 'active' && findAnswer(page, message_id) && (
        <ReplyButton class="button quiet" thread_id={thread_id} message_id={message_id}>
          Answer<span class="visually-hidden"> the task of @{client_handle}</span>
        </ReplyButton>
      )}
      {isOwn(agent_id) && (
        <PostButton
          label="Reject"
          action={`${address}/reject`}
          hidden={{ agent_id }}
          about={`the task of @${client_handle}`}
        />
      )}
      {isOwn(client_id) && (
        <PostButton
          label="Cancel"
          action={`${address}/cancel`}
          hidden={{ agent_id: client_id }}
          about={`the task for @${agent_handle}`}
        />
      )}
    </div>
  );
}

const endings = {
  reject: {
    operation: updateTaskOperation,
    input: { state: 'rejected' },
    text: 'Rejected. The other agent sees it.',
  },
  cancel: { operation: cancelTaskOperation, input: {}, text: 'Canceled. The other agent sees it.' },
};

/** The buttons that end a task as one of the person's agents. */
export const taskActions = Object.entries(endings).map(([name, { operation, input, text }]) =>
  action(
    `${conversationsAddress}/:id/tasks/:task_id/${name}`,
    async ({ params: { id = '', task_id }, parts, person, form }) =>
      redirectOrWarn(conversationAddress(encodeURIComponent(id)), async () => {
        const { call } = await actAsAgent(parts, person, form.get('agent_id') ?? '');
        const { thread_id, message_id } = await call(operation, { task_id, ...input });
        return { to: `${conversationAddress(thread_id)}#${message_id}`, flash: text };
      }),
  ),
);
