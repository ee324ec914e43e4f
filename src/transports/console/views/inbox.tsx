import { useEffect, useState } from 'preact/hooks';
import { Wish } from '../components/approval-details.tsx';
import { Badge, Card, Quote } from '../components/content.tsx';
import { Handle, type Row, Rows, Time } from '../components/rows.tsx';
import { type Action, ActionButton, ActionError, useAction } from './action.tsx';
import { call, type ViewHost } from './host.ts';
import type { InboxValue, ListedThread, Results } from './results.ts';

interface Waiting {
  approvals: Results['show_approvals']['approvals'];
  requests: Results['list_contact_requests']['requests'];
  tasks: Results['list_tasks']['tasks'];
}

interface InboxProps {
  host: ViewHost;
  value: InboxValue;
  onApproval: (approval_id: string) => void;
}

/** What waits for the person, and the result of `list_threads`. */
export function Inbox({ host, value: { threads }, onApproval }: InboxProps) {
  const [waiting, setWaiting] = useState<Waiting>();
  const action = useAction();

  /** A part that the token does not allow is empty. */
  async function load(): Promise<void> {
    const [approvals, requests, tasks] = await Promise.allSettled([
      call(host, 'show_approvals', {}),
      call(host, 'list_contact_requests', {}),
      call(host, 'list_tasks', { role: 'asked', state: 'open' }),
    ]);
    setWaiting({
      approvals: approvals.status === 'fulfilled' ? approvals.value.approvals : [],
      requests: requests.status === 'fulfilled' ? requests.value.requests : [],
      tasks: tasks.status === 'fulfilled' ? tasks.value.tasks : [],
    });
  }

  useEffect(() => {
    if (host.canCall) void load();
  }, []);

  const answer = (request_id: string, decision: string) => async () => {
    await call(host, 'respond_to_contact_request', { request_id, decision });
    await load();
  };
  const rows = waiting && listWaiting(waiting, { host, action, onApproval, answer });
  return (
    <>
      <h1>Inbox</h1>
      {rows && (
        <Card title="Waiting for you">
          {rows.length === 0 ? (
            <p class="calm">Nothing needs you.</p>
          ) : (
            <Rows label="Waiting for you" rows={rows} />
          )}
        </Card>
      )}
      <ActionError of={action} />
      <Card title="Conversations">
        {threads.length === 0 ? (
          <p class="calm">No conversations.</p>
        ) : (
          <Rows
            label="Conversations"
            rows={threads.map((thread) => describeThread(thread, { host, action }))}
          />
        )}
      </Card>
    </>
  );
}

interface Buttons {
  host: ViewHost;
  action: Action;
  onApproval: (approval_id: string) => void;
  answer: (request_id: string, decision: string) => () => Promise<void>;
}

/** In the order of urgency. */
function listWaiting(
  { approvals, requests, tasks }: Waiting,
  { host, action, onApproval, answer }: Buttons,
): Row[] {
  return [
    ...approvals.map((approval) => ({
      key: approval.id,
      title: <Wish {...approval} />,
      lines: [[<Badge tone="accent">Approval</Badge>, <Time at={approval.created_at} />]],
      side: (
        <ActionButton of={action} kind="primary" onPress={async () => onApproval(approval.id)}>
          Review
        </ActionButton>
      ),
    })),
    ...requests.map(({ request_id, from, message, created_at }) => ({
      key: request_id,
      title: [<bdi>{from.display_name}</bdi>, ' wants to be a contact'],
      text: (
        <>
          <Badge tone="accent">Contact request</Badge> <Handle of={from.canonical_handle} /> ·{' '}
          <Time at={created_at} />
          <Quote text={message} />
        </>
      ),
      side: (
        <>
          <ActionButton of={action} kind="primary" onPress={answer(request_id, 'approve')}>
            Approve
          </ActionButton>
          <ActionButton of={action} onPress={answer(request_id, 'reject')}>
            Reject
          </ActionButton>
        </>
      ),
    })),
    ...tasks.map(({ id, thread_id, client, created_at, overdue }) => ({
      key: id,
      title: [<Handle of={client.canonical_handle} />, ' asks your agent'],
      lines: [[<Badge tone="warning">{overdue ? 'Overdue' : 'Question'}</Badge>, <Time at={created_at} />]],
      side: <Open host={host} action={action} thread_id={thread_id} />,
    })),
  ];
}

/** Asks for the conversation in the chat, where the client then shows it. */
function Open({ host, action, thread_id }: Pick<Buttons, 'host' | 'action'> & { thread_id: string }) {
  if (!host.canWrite) return null;
  return (
    <ActionButton
      of={action}
      onPress={async () => void (await host.write(`Show the conversation ${thread_id}.`))}
    >
      Open
    </ActionButton>
  );
}

function describeThread(thread: ListedThread, { host, action }: Pick<Buttons, 'host' | 'action'>): Row {
  const {
    id,
    subject,
    members,
    unread_count: unread,
    last_message: last,
    last_message_at: at,
    status,
  } = thread;
  const others = members.filter(({ relationship }) => relationship !== 'self');
  const names = others.map(({ canonical_handle }) => `@${canonical_handle}`).join(', ');
  return {
    key: id,
    title: <bdi>{subject ?? (names || 'Conversation')}</bdi>,
    lines: [
      [subject !== null && names, typeof at === 'number' && <Time at={at} />],
      last
        ? [
            <>
              <Handle of={last.sender.canonical_handle} />: <bdi>{last.preview}</bdi>
            </>,
          ]
        : [],
    ],
    badges: [unread > 0 && ['accent', `${unread} unread`], status !== 'active' && ['plain', status]],
    side: <Open host={host} action={action} thread_id={id} />,
  };
}
