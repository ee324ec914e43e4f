import { DomainError } from '../../../../../packages/core/src/domain/errors.ts';
import { presentSubject, type WaitState } from '../../../../../packages/core/src/domain/threads.ts';
import { sendMessageOperation } from '../../../../operations/messages/send-message.ts';
import { cancelTaskOperation } from '../../../../operations/tasks/cancel-task.ts';
import { type ListedWait, listWaitsByPair, stopExpecting } from '../../../../services/threads/waits.ts';
import { actAsAgent, requireNotPaused } from '../../act-as-agent.ts';
import { PostButton, RowLink } from '../../components/form.tsx';
import { Handle, Time } from '../../components/rows.tsx';
import { Badge, Card, Empty } from '../../components/content.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { definePage } from '../../define/page.tsx';
import type { Change, PageVisit } from '../../define/section.ts';
import { conversationAddress, conversationsAddress } from '../conversations/filters.tsx';

const path = '/console/waits';

const readWaits = ({ read, person }: Pick<PageVisit, 'read' | 'person'>) =>
  read(listWaitsByPair, person.account_id);

/** A change of one question. */
function changeWait(
  right: 'canRemind' | 'canStop',
  change: (visit: PageVisit, wait: ListedWait) => Promise<string>,
): Change<PageVisit> {
  return async (visit) => {
    const waits = await readWaits(visit);
    const wait = waits.find(({ key }) => key === visit.form.get('wait'));
    if (!wait?.[right])
      throw new DomainError('MESSAGE_NOT_FOUND', 'This question is no longer open, or not yours.');
    return change(visit, wait);
  };
}

const hourMs = 3_600_000;

/** The clock of the database, which messages have too. */
const readNow = ({ now }: { now: number }) => Promise.resolve(now);

/** Questions without an answer, in the threads of all agents that a person may act as. */
export const waitPages = definePage({
  path,
  isLive: true,
  title: 'Missing answers',
  lead: 'Open tasks, and messages that expect a reply, of the last 30 days, the longest wait first.',
  back: { href: conversationsAddress, text: 'Conversations' },
  sections: () => [
    async (visit) => (
      <Card>
        <Waits waits={await readWaits(visit)} />
      </Card>
    ),
  ],
  changes: {
    remind: changeWait('canRemind', async ({ parts, person, read }, wait) => {
      const { agent, call } = await actAsAgent(parts, person, wait.sender_id);
      requireNotPaused(agent);
      const reminder = {
        thread_id: wait.thread_id,
        reply_to: wait.message_id,
        content: 'A reminder: this message has no answer yet.',
        metadata: { no_reply_expected: true },
      };
      // One an hour: a second call returns the first message.
      const now = await read(readNow);
      const key = `remind-${wait.key}-${Math.floor(now / hourMs)}`;
      const { created_at } = await call(sendMessageOperation, reminder, key);
      return created_at < now
        ? `@${wait.member_handle} was already reminded in this hour.`
        : `Reminded @${wait.member_handle}.`;
    }),
    stop: changeWait('canStop', async ({ parts, person }, { sender_id, task_id, message_id }) => {
      const { call, change } = await actAsAgent(parts, person, sender_id);
      if (task_id === null) await change(stopExpecting, { message_id, sender_id });
      else await call(cancelTaskOperation, { task_id });
      return 'No agent waits for this answer any more.';
    }),
  },
});

const stateBadges = {
  waits_for_person: ['warning', 'Waits for a person'],
  waits_for_agent: ['accent', 'Waits for a third agent'],
  silent: ['warning', 'Online and silent'],
  offline: ['plain', 'Offline'],
} as const satisfies Record<WaitState, object>;

const columns: readonly Column<ListedWait>[] = [
  {
    title: 'Agents',
    cell: ({ sender_handle, member_handle, count }) => (
      <span class={count === undefined ? 'visually-hidden' : undefined}>
        <Handle of={sender_handle} /> waits for <Handle of={member_handle} />
        {count !== undefined && count > 1 && ` · ${count} questions`}
      </span>
    ),
  },
  {
    title: 'Question',
    class: 'last-message',
    cell: ({ thread_id, subject, preview }) => {
      const name = presentSubject(subject);
      return (
        <>
          <span class="row-title">
            <a href={conversationAddress(thread_id)}>
              <bdi>{name ?? preview}</bdi>
            </a>
          </span>{' '}
          {name !== null && <bdi>{preview}</bdi>}
        </>
      );
    },
  },
  { title: 'Since', class: 'number', cell: ({ since }) => <Time at={since} isShort /> },
  {
    title: 'State',
    cell: ({ wait_state, overdue, paused, received }) => (
      <>
        {overdue && <Badge tone="danger">Overdue</Badge>} {paused && <Badge tone="warning">Paused</Badge>}{' '}
        <Badge of={stateBadges[wait_state]} />{' '}
        <span class="hint">{received ? 'delivered' : 'not delivered'}</span>
      </>
    ),
  },
  {
    title: <span class="visually-hidden">Actions</span>,
    cell: ({ key, thread_id, is_own, canRemind, canStop, member_handle, message_id }) => {
      const about = `@${member_handle}`;
      return (
        <div class="button-pair">
          {is_own && (
            <RowLink
              label="Answer"
              about={`as ${about}`}
              href={`${conversationAddress(thread_id)}?reply_to=${message_id}#write`}
            />
          )}
          {canRemind && (
            <PostButton label="Remind" action={`${path}/remind`} hidden={{ wait: key }} about={about} />
          )}
          {canStop && (
            <PostButton
              label="Stop waiting"
              action={`${path}/stop`}
              hidden={{ wait: key }}
              about={`for ${about}`}
            />
          )}
        </div>
      );
    },
  },
];

function Waits({ waits }: { waits: readonly ListedWait[] }) {
  if (waits.length === 0)
    return (
      <Empty title="No agent waits">
        An agent is listed here while its task is open, or its message expects a reply.
      </Empty>
    );
  return (
    <Table
      class="stacked"
      id="waits"
      caption="Missing answers"
      columns={columns}
      items={waits}
      keyOf={({ key }) => key}
    />
  );
}
