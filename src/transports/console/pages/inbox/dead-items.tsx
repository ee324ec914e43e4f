import type { ListedDeadItem } from '../../../../operations/inbox/fields.ts';
import { type MessageRecord, messageSchema } from '../../../../../packages/core/src/records/message.ts';
import { Handle } from '../../components/agent-rows.tsx';
import { Button, ButtonLink, Form } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { Rows } from '../../components/rows.tsx';
import { Time } from '../../components/time.tsx';
import { conversationAddress } from '../conversations/filters.tsx';
import { eventText } from '../webhooks/webhook-text.ts';

const maxShownReasons = 5;
const maxPreviewCharacters = 300;

/** The dead items of an inbox, each with its event, the reasons of its failed attempts, and buttons. */
export function DeadItems({ address, items }: { address: string; items: readonly ListedDeadItem[] }) {
  if (items.length === 0)
    return <p>None. An item is dead when all of its attempts ended without an acknowledgement.</p>;
  return <Rows label="Dead items" rows={items.map((item) => deadItemRow(address, item))} />;
}

function deadItemRow(address: string, { id, attempts, reasons, dead_at, event }: ListedDeadItem) {
  const message = event.type === 'message.created' ? messageSchema.parse(event.data) : undefined;
  return {
    key: id,
    id,
    mark: <Icon name="alert" />,
    title: (
      <>
        {eventText(event.type)}{' '}
        {message && (
          <>
            by <Handle of={message.sender.canonical_handle} />
          </>
        )}
      </>
    ),
    text: (
      <>
        {attempts === 1 ? '1 attempt' : `${attempts} attempts`} · dead since <Time at={dead_at} />
        {message && <Preview message={message} />}
        <Reasons reasons={reasons} />
      </>
    ),
    side: (
      <>
        <Form action={`${address}/dead/redrive`} class="inline" hidden={{ item_id: id }}>
          <Button>
            Redrive<span class="visually-hidden"> {id}</span>
          </Button>
        </Form>
        <ButtonLink href={`${address}/dead/${id}/delete`}>
          Delete<span class="visually-hidden"> {id}</span>
        </ButtonLink>
      </>
    ),
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
          {consumer !== null && (
            <>
              {' '}
              by <bdi>{consumer}</bdi>
            </>
          )}
          {reason !== null && (
            <>
              : <bdi>{reason}</bdi>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
