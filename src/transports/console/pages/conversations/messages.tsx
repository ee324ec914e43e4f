import type { ConversationPage } from '../../../../services/threads/conversation-page.ts';
import { Wish, stateBadges } from '../../components/approval-details.tsx';
import { ApprovalButtons } from '../../components/approval-buttons.tsx';
import { Badge, Quote } from '../../components/content.tsx';
import { useLayoutContext } from '../../components/layout-context.ts';
import { Day, dayOf, isOneRun } from '../../components/message-parts.tsx';
import { Message, type ShownConversation } from './message.tsx';

type Approval = ConversationPage['approvals'][number];

interface Entry {
  at: number;
  message?: ConversationPage['messages'][number];
  approval?: Approval;
}

export interface MessageListProps {
  page: ShownConversation;
  /** The sequence of the message that is shown whole. */
  whole: number | null;
  /** The sequence of the message at which the page opens. */
  start?: number | undefined;
  /** The sequence of the message that the address names. */
  named?: number | null | undefined;
}

/** Messages and approvals in order of time, divided by days. Messages of one sender are in runs. */
export function MessageList({ page, whole, start, named = null }: MessageListProps) {
  const { timeZone } = useLayoutContext();
  const entries = listEntries(page);
  return (
    <ol class="messages" id="messages" aria-label="Messages">
      {entries.flatMap((entry, index) => {
        const [previous, next] = [entries[index - 1], entries[index + 1]];
        const { message, approval } = entry;
        const day = dayOf(entry.at, timeZone);
        const isNewDay = !previous || day !== dayOf(previous.at, timeZone);
        return [
          isNewDay && <Day key={day} day={day} />,
          message && (
            <Message
              key={message.id}
              page={page}
              message={message}
              whole={message.sequence === whole}
              isStart={message.sequence === start}
              isNamed={message.sequence === named}
              startsRun={!isOneRun(previous?.message, message, timeZone)}
              next={isOneRun(message, next?.message, timeZone) ? next?.message : undefined}
            />
          ),
          approval && <ApprovalEntry key={approval.id} approval={approval} />,
        ];
      })}
    </ol>
  );
}

/** Approvals before the first message shown belong to an earlier page. */
function listEntries({ messages, approvals, earlier }: ConversationPage): Entry[] {
  const start = earlier ? (messages[0]?.created_at ?? 0) : 0;
  const entries: Entry[] = [
    ...messages.map((message) => ({ at: message.created_at, message })),
    ...approvals
      .filter(({ created_at }) => created_at >= start)
      .map((approval) => ({ at: approval.created_at, approval })),
  ];
  return entries.sort((one, other) => one.at - other.at);
}

function ApprovalEntry({ approval }: { approval: Approval }) {
  const { id, message, state } = approval;
  return (
    <li class="message approval" id={id}>
      <p>
        <Badge of={stateBadges[state]} />{' '}
        <a href={`/console/approvals/${id}`}>
          <Wish {...approval} />
        </a>
      </p>
      <Quote text={message} />
      {state === 'pending' && <ApprovalButtons approval={approval} />}
    </li>
  );
}
