import { presentMessage } from '../../../../../packages/core/src/records/message.ts';
import { type MessageTrace, readMessageTrace } from '../../../../services/threads/message-trace.ts';
import { Badge, Card, Facts } from '../../components/content.tsx';
import { Handle, Time } from '../../components/rows.tsx';
import { definePage } from '../../define/page.tsx';
import type { PageVisit } from '../../define/section.ts';
import { formatTime, timeZoneOf } from '../../time-zone.ts';
import { Reasons } from '../inbox/inbox.tsx';
import { deliveryBadges, describeDelivery, nameOf } from '../webhooks/fields.tsx';
import { conversationAddress, conversationsAddress } from './filters.tsx';

interface TraceVisit extends PageVisit {
  trace: MessageTrace;
}

/** What happened to a message. With scripts, it is shown over the conversation. */
export const tracePage = definePage({
  path: `${conversationsAddress}/:id/messages/:message_id`,
  async load({ params: { id: thread_id = '', message_id = '' }, person, read }) {
    const reader = { account_id: person.account_id };
    return { trace: await read(readMessageTrace, reader, { thread_id, message_id }) };
  },
  title: ({ trace }) => `Trace of message ${trace.message.sequence}`,
  back: ({ trace: { message } }) => ({
    href: `${conversationAddress(message.thread_id)}?at=${message.sequence}#${message.id}`,
    text: 'Conversation',
  }),
  frame: 'over',
  sections: ({ list }) => [
    showFacts,
    list({
      title: 'Inbox',
      label: 'Inboxes',
      read: ({ trace }) => trace.inboxes,
      row: ({ agent_handle, state, attempts, consumer, expires_at, reasons, updated_at }) => ({
        key: agent_handle,
        title: <Handle of={agent_handle} />,
        lines: [
          [
            attempts === 1 ? '1 attempt' : `${attempts} attempts`,
            consumer !== null && ['held by ', <bdi>{consumer}</bdi>],
            expires_at === null ? ['since ', <Time at={updated_at} />] : ['until ', <Time at={expires_at} />],
          ],
        ],
        text: reasons.length > 0 && <Reasons reasons={reasons} />,
        badges: [[inboxTones[state], state]],
      }),
    }),
    list({
      title: 'Webhooks',
      label: 'Deliveries to webhooks',
      read: ({ trace }) => trace.webhooks,
      row: (delivery) => ({
        key: delivery.webhook_id,
        title: (
          <a href={`/console/agents/${delivery.agent_id}/webhooks/${delivery.webhook_id}`}>
            <bdi>{nameOf(delivery)}</bdi>
          </a>
        ),
        lines: [describeDelivery({ ...delivery, at: delivery.last_attempt_at })],
        badges: [deliveryBadges[delivery.state]],
      }),
    }),
    ({ trace: { message } }) => (
      <Card title="JSON">
        <pre class="trace">{JSON.stringify(presentMessage(message), undefined, 2)}</pre>
      </Card>
    ),
  ],
});

function showFacts({ trace, ctx, person }: TraceVisit) {
  const { message, question, tokens, remote } = trace;
  const exact = formatTime(message.created_at, timeZoneOf(ctx, person), {
    dateStyle: 'medium',
    timeStyle: 'long',
  });
  return (
    <Card>
      <Facts
        facts={[
          ['Sent', [exact, ' by ', <Handle of={message.sender_handle} />]],
          question !== undefined && [
            'After the question',
            [
              <strong>{durationText(message.created_at - question.created_at)}</strong>,
              ' after ',
              <a href={`${conversationAddress(question.thread_id)}?at=${question.sequence}#${question.id}`}>
                message {question.sequence}
              </a>,
              ' of ',
              <Handle of={question.sender_handle} />,
            ],
          ],
          ['Size', `${Buffer.byteLength(message.content)} bytes, about ${tokens} tokens`],
          remote !== undefined && [
            'Other system',
            [
              <Badge tone={remote.outcome === 'accepted' ? 'good' : 'danger'}>{remote.outcome}</Badge>,
              ' ',
              <Time at={remote.created_at} />,
              remote.error && [' · ', <bdi>{remote.error.message}</bdi>],
            ],
          ],
        ]}
      />
    </Card>
  );
}

const inboxTones = {
  queued: 'plain',
  ready: 'plain',
  leased: 'accent',
  dead: 'danger',
  handled: 'good',
  recorded: 'good',
} as const;

/** A length of time (ms) with three digits at least. */
function durationText(ms: number): string {
  if (ms < 1_000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1_000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
