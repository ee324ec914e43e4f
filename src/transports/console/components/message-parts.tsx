import type { Relationship, Visibility } from '../../../../packages/core/src/domain/agents/agents.ts';
import type { MessageWriter } from '../../../../packages/core/src/domain/threads.ts';
import { formatTime } from '../time-zone.ts';
import { Badge } from './content.tsx';
import { useLayoutContext } from './layout-context.ts';
import { CardLink, monogram } from './rows.tsx';

const relationshipNames: Record<Relationship, string> = {
  self: 'Your agent',
  same_owner: 'Your agent',
  same_organization: 'Same organization',
  contact: 'Contact',
  none: 'Not a contact',
};

interface SentMessage {
  sender_handle: string;
  relationship: Relationship;
  written_by: MessageWriter;
  created_at: number;
}

interface SenderProps {
  message: SentMessage;
  isOwn: boolean;
  /** Whether the reader has a relationship to it. */
  hasRelation?: boolean;
  profile?: { display_name: string; visibility: Visibility } | undefined;
}

/** The heading of a run of messages of one sender. */
export function Sender({ message, isOwn, hasRelation = true, profile }: SenderProps) {
  const { sender_handle, relationship, written_by } = message;
  const name = profile?.display_name ?? sender_handle;
  const [owner = ''] = sender_handle.split('.');
  return (
    <>
      <span class="mark" aria-hidden="true">
        {monogram(name)}
      </span>
      <p class="sender">
        {profile && (
          <strong>
            <CardLink handle={sender_handle} visibility={profile.visibility}>
              <bdi>{name}</bdi>
            </CardLink>
          </strong>
        )}
        <span class="code" title={`Owner ${owner}, verified by this service`}>
          @{sender_handle}
        </span>
        {hasRelation && (
          <span class={isOwn ? 'relation own' : 'relation'}>
            {isOwn ? relationshipNames.self : relationshipNames[relationship]}
          </span>
        )}
        {written_by === 'person' && <Badge tone="warning">Written by a person</Badge>}
      </p>
    </>
  );
}

interface MomentProps {
  message: Pick<SentMessage, 'created_at'>;
  /** Where the time leads. Absent: it is no link. */
  href?: string;
}

/** The time of a message. */
export function Moment({ message: { created_at }, href }: MomentProps) {
  const { timeZone } = useLayoutContext();
  const title = formatTime(created_at, timeZone, { dateStyle: 'medium', timeStyle: 'medium' });
  const time = (
    <time dateTime={new Date(created_at).toISOString()}>
      {formatTime(created_at, timeZone, { timeStyle: 'short' })}
    </time>
  );
  return href === undefined ? (
    <span class="moment" title={title}>
      {time}
    </span>
  ) : (
    <a class="moment" href={href} title={title}>
      {time}
    </a>
  );
}

/** Messages of one sender within this time are one run, with one heading. */
const runMs = 10 * 60_000;

/** The day of a time (ms), as its heading. */
export const dayOf = (at: number, timeZone: string | undefined): string =>
  formatTime(at, timeZone, { dateStyle: 'full' });

type RunMessage = Pick<SentMessage, 'sender_handle' | 'written_by' | 'created_at'>;

/** Whether a message follows another one without a heading of its own. */
export function isOneRun(
  one: RunMessage | undefined,
  next: RunMessage | undefined,
  timeZone: string | undefined,
): boolean {
  return (
    one !== undefined &&
    one.sender_handle === next?.sender_handle &&
    one.written_by === next.written_by &&
    next.created_at - one.created_at < runMs &&
    dayOf(one.created_at, timeZone) === dayOf(next.created_at, timeZone)
  );
}

/** The heading of a day in a list of messages. */
export function Day({ day }: { day: string }) {
  return (
    <li class="day" id={`day-${day.replaceAll(/\W+/g, '-').toLowerCase()}`}>
      <span>{day}</span>
    </li>
  );
}
