import { isId } from '../../../../../packages/core/src/domain/ids.ts';
import {
  conversationMarks,
  conversationWaits,
  threadStatuses,
} from '../../../../../packages/core/src/domain/threads.ts';
import type { AgentOfPerson } from '../../../../services/people/agents.ts';
import type {
  ConversationFilters,
  ConversationPosition,
} from '../../../../services/threads/conversations.ts';
import { toAgentOptions } from '../../components/rows.tsx';
import { Fields, selectField, textField } from '../../define/fields.tsx';
import { readHandle, wrongHandleText } from '../../define/filter.tsx';
import { Checkbox } from '../../components/choices.tsx';
import { Button } from '../../components/form.tsx';

/** Path of the list of conversations. */
export const conversationsAddress = '/console/conversations';

/** Path of the form that starts a conversation. */
export const newConversationAddress = `${conversationsAddress}/new`;

/** The path of a conversation. */
export function conversationAddress(thread_id: string): string {
  return `${conversationsAddress}/${thread_id}`;
}

/** What the query of the list asks for. Values that do not exist are left out. */
export interface ListQuery {
  filters: ConversationFilters;
  /** Search terms; empty: none. */
  search: string;
  /** The counterpart as it was entered, if it is no handle. */
  wrongCounterpart: string | undefined;
  after: ConversationPosition | null;
  /** The query of the filters, for links to other pages of the list. */
  kept: Record<string, string>;
}

/** Reads the filters and the position of a list. */
export function readListQuery(query: URLSearchParams): ListQuery {
  const agent = query.get('agent') ?? '';
  const { handle: counterpart, wrong } = readHandle(query, 'counterpart');
  const status = threadStatuses.find((each) => each === query.get('status'));
  const waiting = conversationWaits.find((each) => each === query.get('waiting'));
  const mark = conversationMarks.find((each) => each === query.get('mark')) ?? 'open';
  const unread = query.get('unread') === 'true';
  const search = (query.get('q') ?? '').trim();
  const kept = {
    ...(isId('agent', agent) && { agent }),
    ...(counterpart !== undefined && { counterpart }),
    ...(status && { status }),
    ...(waiting && { waiting }),
    ...(mark !== 'open' && { mark }),
    ...(unread && { unread: 'true' }),
    ...(search !== '' && { q: search }),
  };
  return {
    filters: { agent: kept.agent, counterpart, status, waiting, mark, unread },
    search,
    wrongCounterpart: wrong,
    after: readPosition(query.get('before')),
    kept,
  };
}

function readPosition(text: string | null): ConversationPosition | null {
  const [, activity, id = ''] = /^(\d{1,15})\.(\w{1,40})$/.exec(text ?? '') ?? [];
  return activity !== undefined && isId('thread', id) ? { activity: Number(activity), id } : null;
}

export const statusNames = { active: 'Active', closed: 'Closed', archived: 'Archived' } as const;
const waitNames = { me: 'For my agents', others: 'For others' } as const;

/** The options of a select box with one for no filter. */
function toOptions<Value extends string>(
  any: string,
  values: readonly Value[],
  names: Record<Value, string>,
) {
  return [{ value: '', text: any }, ...values.map((value) => ({ value, text: names[value] }))];
}

interface FiltersProps {
  agents: readonly AgentOfPerson[];
  query: ListQuery;
}

/** The search and the filters above the list. They send a GET request, so that the address can be kept. */
export function Filters({ agents, query: { filters, search, wrongCounterpart, kept } }: FiltersProps) {
  const fields = {
    agent: selectField('Agent', toAgentOptions(agents, 'All my agents')),
    counterpart: textField('Other member', undefined, { maxlength: 80, plain: true }),
    status: selectField('Status', toOptions('Active and closed', threadStatuses, statusNames)),
    waiting: selectField('Waiting', toOptions('Any', conversationWaits, waitNames)),
  };
  const isWrong = wrongCounterpart !== undefined;
  return (
    <form method="get" action={conversationsAddress} class="filters" role="search">
      <label class="visually-hidden" for="search">
        Search in messages
      </label>
      <input
        id="search"
        type="search"
        name="q"
        value={search}
        maxLength={200}
        placeholder="Search in messages"
      />
      <div class="chips">
        <a class="chip" href={conversationsAddress} aria-current={isAll(kept) ? 'true' : undefined}>
          Open
        </a>
        <Chip kept={kept} name="mark" value="done" text="Done" />
        <Chip kept={kept} name="mark" value="muted" text="Muted" />
        <Chip kept={kept} name="unread" value="true" text="Unread" />
        <Chip kept={kept} name="waiting" value="me" text="Waiting" />
        <details class="chip-details" open={isWrong}>
          <summary class="chip">More</summary>
          <div class="stack">
            <a href="/console/waits">Missing answers</a>
            <Fields
              fields={fields}
              values={{ ...filters, counterpart: filters.counterpart ?? wrongCounterpart }}
              errors={isWrong ? { counterpart: wrongHandleText } : {}}
            />
            <Checkbox name="unread" value="true" label="Only unread" checked={filters.unread === true} />
            <Button>Show</Button>
          </div>
        </details>
        {Object.entries(kept).map(
          ([name, value]) =>
            isExtra(name, value) && (
              <Chip key={name} kept={kept} name={name} value={value} text={chipText(name, value, agents)} />
            ),
        )}
      </div>
    </form>
  );
}

const isAll = (kept: ListQuery['kept']) => Object.keys(kept).length === 0;

/** Whether a filter has no chip of its own. */
const isExtra = (name: string, value: string) => name !== 'unread' && `${name}=${value}` !== 'waiting=me';

function chipText(name: string, value: string, agents: readonly AgentOfPerson[]): string {
  if (name === 'agent') return `@${agents.find(({ id }) => id === value)?.canonical_handle ?? value}`;
  if (name === 'counterpart') return `With @${value}`;
  return name === 'q' ? `“${value}”` : name === 'waiting' ? waitNames.others : value;
}

interface ChipProps {
  kept: ListQuery['kept'];
  name: string;
  value: string;
  text: string;
}

/** A link that sets a filter, or takes it away if it is set. */
function Chip({ kept, name, value, text }: ChipProps) {
  const { [name]: current, ...others } = kept;
  const isSet = current === value;
  const query = new URLSearchParams(isSet ? others : { ...kept, [name]: value }).toString();
  return (
    <a
      class="chip"
      href={`${conversationsAddress}${query && `?${query}`}`}
      aria-current={isSet ? 'true' : undefined}
    >
      {text}
      {isSet && (
        <>
          <span class="visually-hidden">, remove this filter</span> <span aria-hidden="true">×</span>
        </>
      )}
    </a>
  );
}
