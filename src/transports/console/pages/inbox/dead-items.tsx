import type { ListedDeadItem } from '../../../../operations/inbox/fields.ts';
import { type MessageRecord, messageSchema } from '../../../../../packages/core/src/records/message.ts';
import { Handle, type Row, Time } from '../../components/rows.tsx';
import { Icon } from '../../components/content.tsx';
import type { AgentVisit } from '../agents/agent-page.tsx';
import { conversationAddress } from '../conversations/filters.tsx';
import { eventText } from '../webhooks/webhook-text.ts';

const maxShownReasons = 5;
const maxPreviewCharacters = 300;

/** A dead item with its event, the reasons of its failed attempts, and buttons. */
export function deadItemRow(
  { id, attempts, reasons, dead_at, event }: ListedDeadItem,
  { address }: Pick<AgentVisit, 'address'>,
): Row {
  const message = event.type === 'message.created' ? messageSchema.parse(event.data) : undefined;
  return {
    key: id,
    id,
    mark: <Icon name="alert" />,
    title: [eventText(event.type), message && [' by ', <Handle of={message.sender.canonical_handle} />]],
    text: (
      <>
        {attempts === 1 ? '1 attempt' : `${attempts} attempts`} · dead since <Time at={dead_at} />
        {message && <Preview message={message} />}
        <Reasons reasons={reasons} />
      </>
    ),
    buttons: [
      {
        label: 'Redrive',
        action: `${address}/dead/redrive`,
        hidden: { item_id: id },
        about: id,
        kind: 'primary',
      },
      { label: 'Delete', href: `${address}/dead/${id}/delete`, about: id },
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

function Reasons({ reasons }: Pick<ListedDeadItem, 'reasons'>) {
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
