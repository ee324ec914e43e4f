import { isHandle } from '../../../../../packages/core/src/domain/agents/handles.ts';
import { isId } from '../../../../../packages/core/src/domain/ids.ts';
import { conversationWaits, threadStatuses } from '../../../../../packages/core/src/domain/threads.ts';
import type { AgentOfPerson } from '../../../../services/people/agents.ts';
import type {
  ConversationFilters,
  ConversationPosition,
} from '../../../../services/threads/conversations.ts';
import { toAgentOptions } from '../../components/rows.tsx';
import { Fields, selectField, textField } from '../../define/fields.tsx';
import { Checkbox } from '../../components/choices.tsx';
import { Button, ButtonLink } from '../../components/form.tsx';

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
  const entered = (query.get('counterpart') ?? '').trim().replace(/^@/, '').toLowerCase();
  const status = threadStatuses.find((each) => each === query.get('status'));
  const waiting = conversationWaits.find((each) => each === query.get('waiting'));
  const unread = query.get('unread') === 'true';
  const search = (query.get('q') ?? '').trim();
  const counterpart = isHandle(entered) ? entered : undefined;
  const kept = {
    ...(isId('agent', agent) && { agent }),
    ...(counterpart !== undefined && { counterpart }),
    ...(status && { status }),
    ...(waiting && { waiting }),
    ...(unread && { unread: 'true' }),
    ...(search !== '' && { q: search }),
  };
  return {
    filters: { agent: kept.agent, counterpart, status, waiting, unread },
    search,
    wrongCounterpart: entered !== '' && counterpart === undefined ? entered : undefined,
    after: readPosition(query.get('before')),
    kept,
  };
}

function readPosition(text: string | null): ConversationPosition | null {
  const [, activity, id = ''] = /^(\d{1,15})\.(\w{1,40})$/.exec(text ?? '') ?? [];
  return activity !== undefined && isId('thread', id) ? { activity: Number(activity), id } : null;
}

const statusNames = { active: 'Active', closed: 'Closed', archived: 'Archived' } as const;
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

/** The form above the list. It sends a GET request, so that the address can be kept. */
export function Filters({ agents, query: { filters, search, wrongCounterpart, kept } }: FiltersProps) {
  const isFiltered = Object.keys(kept).length > 0;
  const fields = {
    q: textField('Search in messages', undefined, { maxlength: 200 }),
    agent: selectField('Agent', toAgentOptions(agents, 'All my agents')),
    counterpart: textField('Other member', undefined, { maxlength: 80, plain: true }),
    status: selectField('Status', toOptions('Active and closed', threadStatuses, statusNames)),
    waiting: selectField('Waiting', toOptions('Any', conversationWaits, waitNames)),
  };
  const isWrong = wrongCounterpart !== undefined;
  return (
    <details class="filters" open={isFiltered || isWrong}>
      <summary>Search and filter</summary>
      <form method="get" action={conversationsAddress} class="stack">
        <div class="filter-fields">
          <Fields
            fields={fields}
            values={{ ...filters, q: search, counterpart: filters.counterpart ?? wrongCounterpart }}
            errors={isWrong ? { counterpart: 'must be a handle such as owner.agent' } : {}}
          />
        </div>
        <Checkbox name="unread" value="true" label="Only unread" checked={filters.unread === true} />
        <div class="actions">
          <Button>Show</Button>
          {isFiltered && <ButtonLink href={conversationsAddress}>Show all</ButtonLink>}
        </div>
      </form>
    </details>
  );
}
