import { type ComponentChildren, h } from 'preact';
import type { Visibility } from '../../../../packages/core/src/domain/agents/agents.ts';
import type { AgentOfPerson } from '../../../services/people/agents.ts';
import { formatTime } from '../time-zone.ts';
import { Badge, Icon, type Tone } from './content.tsx';
import { PostButton, RowLink } from './form.tsx';
import { useLayoutContext } from './layout-context.ts';

export interface Row {
  key: string;
  /** Id of the element, for lists that are live. */
  id?: string;
  title: ComponentChildren;
  text?: ComponentChildren;
  /** Lines in place of the text. The parts of a line that are there have dots between them. */
  lines?: readonly (readonly ComponentChildren[])[];
  badges?: readonly (readonly [tone: Tone, text: ComponentChildren] | false)[];
  buttons?: readonly (RowButton | false)[];
  /** Content after badges and buttons. */
  side?: ComponentChildren;
}

/** A button of a row: a form with `action`, or a link with `href`. */
type RowButton = ({ action: string; hidden?: Record<string, string> } | { href: string }) & {
  label: string;
  /** What it is about, for screen readers. */
  about?: string | undefined;
  kind?: 'primary' | 'quiet';
};

/** A list of items with their actions. */
export function Rows({ label, rows, id }: { label: string; rows: readonly Row[]; id?: string }) {
  return (
    <ul class="rows" aria-label={label} id={id}>
      {rows.map((row) => (
        <li class="row" key={row.key} id={row.id}>
          <div class="row-text">
            <div class="row-title">{row.title}</div>
            {row.lines?.map(
              (line) =>
                line.some(Boolean) && (
                  <div class="row-hint">
                    <Dots of={line} />
                  </div>
                ),
            )}
            {row.text !== undefined && <div class="row-hint">{row.text}</div>}
          </div>
          <Side {...row} />
        </li>
      ))}
    </ul>
  );
}

function Side({ badges = [], buttons = [], side }: Row) {
  const isEmpty = side === undefined && !badges.some(Boolean) && !buttons.some(Boolean);
  if (isEmpty) return null;
  return (
    <div class="row-side">
      {badges.map((badge) => badge && [<Badge of={badge} />, ' '])}
      {buttons.map(
        (button) => button && ('href' in button ? <RowLink {...button} /> : <PostButton {...button} />),
      )}
      {side}
    </div>
  );
}

/** The parts that are there, with a dot between them. */
function Dots({ of: parts }: { of: readonly ComponentChildren[] }) {
  const shown = parts.filter((part) => part !== null && part !== undefined && part !== false && part !== '');
  return <>{shown.map((part, index) => [index > 0 && ' · ', part])}</>;
}

interface NextPageProps {
  /** Path of the list. */
  path: string;
  /** Query of the next page; undefined, or with an undefined value, on the last page. */
  next: Readonly<Record<string, string | undefined>> | undefined;
  /** Plural name of the items, such as "agents". */
  noun: string;
}

/** A link to the next page of a list, if there is one. */
export function NextPage({ path, next, noun }: NextPageProps) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(next ?? {})) {
    if (value === undefined) return null;
    query.set(name, value);
  }
  if (query.size === 0) return null;
  return (
    <p class="next-page">
      <a href={`${path}?${query.toString()}`} rel="next">
        More {noun} <Icon name="arrow" />
      </a>
    </p>
  );
}

type ShownAgent = Pick<
  AgentOfPerson,
  'id' | 'canonical_handle' | 'display_name' | 'scope' | 'visibility' | 'paused' | 'is_online' | 'owner_name'
>;

const visibilityNames: Record<Visibility, string> = {
  private: 'Private',
  unlisted: 'Unlisted',
  public: 'Public',
};

/** Badges for the state, scope and visibility of an agent. */
export function AgentBadges({
  scope,
  visibility,
  paused,
  is_online,
}: Pick<ShownAgent, 'scope' | 'visibility' | 'paused' | 'is_online'>) {
  return (
    <>
      {is_online && <Badge tone="good">Online</Badge>}
      {paused && <Badge tone="warning">Paused</Badge>}
      {scope !== 'personal' && <Badge>{scope === 'shared' ? 'Shared' : 'Organization'}</Badge>}
      <Badge tone={visibility === 'public' ? 'accent' : 'plain'}>{visibilityNames[visibility]}</Badge>
    </>
  );
}

/** A handle with @. */
export function Handle({ of }: { of: string }) {
  return <span class="code">@{of}</span>;
}

/** The options of a select box for one of the agents. @param all the text of the option for all of them */
export function toAgentOptions(agents: readonly Pick<ShownAgent, 'id' | 'canonical_handle'>[], all?: string) {
  const options = agents.map(({ id, canonical_handle }) => ({ value: id, text: `@${canonical_handle}` }));
  return all === undefined ? options : [{ value: '', text: all }, ...options];
}

/** The path of the public card of an agent. */
export const cardPath = (handle: string): string => `/v1/agents/${handle.replace('.', '/')}/card`;

interface CardLinkProps {
  handle: string;
  /** Undefined for an agent that is deleted or cannot be seen. */
  visibility: Visibility | undefined;
  children: ComponentChildren;
}

/** A link to the card of an agent, if everybody can read it. */
export function CardLink({ handle, visibility, children }: CardLinkProps) {
  return visibility === 'public' ? <a href={cardPath(handle)}>{children}</a> : <>{children}</>;
}

/** The first letter of a name, as its icon. */
export function monogram(name: string): string {
  const [first] = new Intl.Segmenter('en').segment(name.trim());
  return first?.segment ?? '?';
}

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

interface TimeProps {
  at: number;
  now?: number;
  /** `5m` in place of `5 minutes ago`. */
  isShort?: boolean;
}

/** A time (ms since the epoch) as relative time, with the exact time as tooltip. Over 30 days away it is shown as a date. */
export function Time({ at, now = Date.now(), isShort = false }: TimeProps) {
  const { timeZone } = useLayoutContext();
  const exact = formatTime(at, timeZone, { dateStyle: 'medium', timeStyle: 'short' });
  const text =
    relativeTime(at - now) ?? (isShort ? formatTime(at, timeZone, { dateStyle: 'medium' }) : exact);
  const properties = { datetime: new Date(at).toISOString(), title: exact, 'no-title': '' };
  return h(
    'relative-time',
    isShort ? { ...properties, format: 'micro' } : properties,
    isShort ? text.replace(/^(\d+) (\w)\w* ago$/, '$1$2') : text,
  );
}

const lengths = [...units, ['second', 1_000]] as const;

/** A length of time (ms) in the largest unit that fits: "2 hours". */
export function lengthText(lengthMs: number): string {
  const [unit, unitMs] = lengths.find(([, eachMs]) => lengthMs >= eachMs) ?? (['second', 1_000] as const);
  const format = new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: 'long' });
  return format.format(Math.trunc(lengthMs / unitMs));
}

/** A size in the largest unit that fits. */
export function sizeText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  const kib = bytes / 1_024;
  return kib < 1_024 ? `${Math.ceil(kib)} KB` : `${(kib / 1_024).toFixed(1)} MB`;
}

function relativeTime(differenceMs: number): string | undefined {
  const size = Math.abs(differenceMs);
  if (size > 30 * 86_400_000) return undefined;
  const [unit, lengthMs] = units.find(([, unitMs]) => size >= unitMs) ?? [];
  if (unit === undefined) return differenceMs <= 0 ? 'just now' : 'in less than a minute';
  return relative.format(Math.trunc(differenceMs / lengthMs), unit);
}
