import { isId } from '../../../../../packages/core/src/domain/ids.ts';
import { DomainError } from '../../../../../packages/core/src/domain/errors.ts';
import { deleteDeadItemOperation } from '../../../../operations/inbox/delete-dead-item.ts';
import { getInboxOperation } from '../../../../operations/inbox/get-inbox.ts';
import { listDeadItemsOperation } from '../../../../operations/inbox/list-dead-items.ts';
import { redriveDeadItemOperation } from '../../../../operations/inbox/redrive-dead-item.ts';
import { Card, Empty, Facts } from '../../components/content.tsx';
import { Actions, ButtonLink } from '../../components/form.tsx';
import { lengthText, Time, Handle, type Row } from '../../components/rows.tsx';
import { pageInput } from '../../define/list.tsx';
import { agentConfirmation, agentPage, type AgentVisit } from '../agents/agent-page.tsx';
import { eventText } from '../webhooks/fields.tsx';
import type { ListedDeadItem } from '../../../../operations/inbox/fields.ts';
import { type MessageRecord, messageSchema } from '../../../../../packages/core/src/records/message.ts';
import { conversationAddress } from '../conversations/filters.tsx';

const maxShownReasons = 5;
const maxPreviewCharacters = 300;

/** A dead item with its event, the reasons of its failed attempts, and buttons. */
function deadItemRow({ id, attempts, reasons, dead_at, event }: ListedDeadItem): Row {
  const message = event.type === 'message.created' ? messageSchema.parse(event.data) : undefined;
  return {
    key: id,
    id,
    title: [eventText(event.type), message && [' by ', <Handle of={message.sender.canonical_handle} />]],
    text: (
      <>
        {attempts === 1 ? '1 attempt' : `${attempts} attempts`} · dead since <Time at={dead_at} />
        {message && <Preview message={message} />}
        <Reasons reasons={reasons} />
      </>
    ),
    buttons: [
      { label: 'Redrive', action: 'dead/redrive', hidden: { item_id: id }, about: id, kind: 'primary' },
      { label: 'Delete', href: `dead/${id}/delete`, about: id },
    ],
  };
}

function Preview({ message: { id, thread_id, sequence, content } }: { message: MessageRecord }) {
  return (
    <p>
      <bdi>{content.slice(0, maxPreviewCharacters)}</bdi>{' '}
      <a href={`${conversationAddress(thread_id)}?at=${sequence}#${id}`}>Open the conversation</a>
    </p>
  );
}

/** Why the attempts to handle an item failed. */
export function Reasons({ reasons }: Pick<ListedDeadItem, 'reasons'>) {
  return (
    <ul class="bullets">
      {reasons.slice(-maxShownReasons).map(({ attempt, outcome, reason, consumer, ended_at }) => (
        <li key={`${attempt} ${ended_at}`}>
          Attempt {attempt} {outcome === 'expired' ? 'expired' : 'was released'} <Time at={ended_at} />
          {consumer !== null && [' by ', <bdi>{consumer}</bdi>]}
          {reason !== null && [': ', <bdi>{reason}</bdi>]}
        </li>
      ))}
    </ul>
  );
}

/** Reads the inbox of an agent; undefined if it is off. */
export async function loadInbox({ call }: AgentVisit) {
  try {
    return { inbox: await call(getInboxOperation) };
  } catch (error) {
    if (error instanceof DomainError && error.code === 'INBOX_NOT_FOUND') return { inbox: undefined };
    throw error;
  }
}

/** What the pages of an inbox read. */
export type OfInbox = Awaited<ReturnType<typeof loadInbox>>;

/** The inbox of an agent: counts, dead items, instances and settings. Dead items can be redriven and deleted. */
export const inboxPage = agentPage({
  path: 'inbox',
  load: loadInbox,
  title: ({ agent }) => `Inbox of ${agent.display_name}`,
  sections: ({ list }) => [
    showCounts,
    list({
      title: 'Dead items',
      noun: 'items',
      empty: 'None. An item is dead when all of its attempts ended without an acknowledgement.',
      async read({ inbox, call, query }) {
        if (!inbox) return undefined;
        const { items, next_cursor } = await call(listDeadItemsOperation, pageInput(query, 25));
        return { items, next: { cursor: next_cursor } };
      },
      row: deadItemRow,
    }),
    list({
      title: 'Instances',
      empty: 'No instance has claimed items in the last 24 hours.',
      read: ({ inbox }) => inbox?.consumers,
      row: ({ name, last_claim_at, leased }) => ({
        key: name,
        title: <bdi>{name}</bdi>,
        text: ['Last claim ', <Time at={last_claim_at} />, ` · ${leased} leased`],
      }),
    }),
    showSettings,
  ],
  changes: {
    async 'dead/redrive'({ call, form }) {
      await call(redriveDeadItemOperation, { item_id: form.get('item_id') ?? '' });
      return 'The item is ready again.';
    },
  },
});

/** Deletes a dead item. */
export const deadItemDeletePage = agentConfirmation({
  path: 'inbox/dead/:item_id/delete',
  async load({ params: { item_id = '' } }) {
    if (!isId('event', item_id)) throw new DomainError('NOT_FOUND', 'The inbox has no such dead item.');
    return { item_id };
  },
  title: () => 'Delete this item?',
  text: ({ agent }) => (
    <p>
      It counts as handled, and no instance of @{agent.canonical_handle} gets it again. The message stays in
      its conversation.
    </p>
  ),
  button: 'Delete item',
  back: ({ agentPath }) => agentPath('inbox'),
  async change({ call, item_id }) {
    await call(deleteDeadItemOperation, { item_id });
    return 'Item deleted.';
  },
});

/** The counts, or how to turn the inbox on. */
function showCounts({ inbox, address }: AgentVisit & OfInbox) {
  if (!inbox)
    return (
      <>
        <Empty title="The inbox is off">
          With an inbox, several instances of this agent share its messages: each message is leased to one
          instance. The agent can also turn it on with <code>PUT /v1/inbox</code>.
        </Empty>
        <Actions>
          <ButtonLink href={`${address}/settings`} kind="primary">
            Turn on
          </ButtonLink>
        </Actions>
      </>
    );
  const { ready, leased, dead, oldest_age } = inbox;
  return (
    <Card title="Items">
      <Facts
        facts={[
          ['Ready', String(ready)],
          ['Leased', String(leased)],
          ['Dead', String(dead)],
          ['Age of the oldest', oldest_age === null ? 'No items' : lengthText(oldest_age)],
        ]}
      />
    </Card>
  );
}

function showSettings({ inbox, address }: AgentVisit & OfInbox) {
  if (!inbox) return null;
  const { types, lease_seconds, max_attempts, ordered_by_thread, created_at } = inbox;
  return (
    <Card title="Settings">
      <Facts
        facts={[
          ['Events', types.map(eventText).join(', ')],
          ['Lease', lengthText(lease_seconds * 1_000)],
          ['Attempts', `At most ${max_attempts} for each item`],
          ['Order', ordered_by_thread ? 'One item of a thread at a time' : 'No order'],
          ['Turned on', <Time at={created_at} key="at" />],
        ]}
      />
      <Actions>
        <ButtonLink href={`${address}/settings`}>Change settings</ButtonLink>
        <ButtonLink href={`${address}/off`} kind="danger">
          Turn off
        </ButtonLink>
      </Actions>
    </Card>
  );
}
