import { presentSubject, type WaitState } from '../../../../../packages/core/src/domain/threads.ts';
import { readLiveState } from '../../../../services/people/live-pages.ts';
import { listWaits, type QuestionWait } from '../../../../services/threads/waits.ts';
import { Handle, monogram, type Row, Rows, Time } from '../../components/rows.tsx';
import { Card, Empty } from '../../components/content.tsx';
import { LiveRegion } from '../../components/live-region.tsx';
import { liveRoute } from '../../define/live.ts';
import { definePage, type PageVisit } from '../../define/page.tsx';
import { conversationAddress, conversationsAddress } from './filters.tsx';

interface WaitsVisit extends PageVisit {
  /** Undefined: the page is not live. */
  cursor: string | undefined;
}

const readWaits = ({ read, person }: Pick<PageVisit, 'read' | 'person'>) =>
  read(listWaits, { account_id: person.account_id });

/** Missing answers, in the threads of all agents that a person may act as. */
export const waitPages = [
  ...definePage<WaitsVisit>({
    path: '/console/waits',
    // Before the list: what comes in between is sent again.
    load: async (visit) => ({ ...visit, cursor: (await visit.read(readLiveState, visit.person))?.cursor }),
    title: 'Missing answers',
    lead: 'Open tasks, and messages that expect a reply, of the last 30 days, the longest wait first.',
    back: { href: conversationsAddress, text: 'Conversations' },
    sections: [
      async (visit) => (
        <Card>
          <LiveRegion
            id="live-waits"
            address="/console/live/waits"
            cursor={visit.cursor}
            label="Missing answers"
          >
            <Waits waits={await readWaits(visit)} />
          </LiveRegion>
        </Card>
      ),
    ],
  }),
  liveRoute('/console/live/waits', 'live-waits', async (visit) => ({
    content: <Waits waits={await readWaits(visit)} />,
  })),
];

const states: Record<WaitState, { label: string; tone: 'plain' | 'warning' | 'accent' }> = {
  waits_for_person: { label: 'Waits for a person', tone: 'warning' },
  waits_for_agent: { label: 'Waits for a third agent', tone: 'accent' },
  silent: { label: 'Online and silent', tone: 'warning' },
  offline: { label: 'Offline', tone: 'plain' },
};

function Waits({ waits }: { waits: readonly QuestionWait[] }) {
  if (waits.length === 0)
    return (
      <Empty title="No agent waits">
        An agent is listed here while its task is open, or its message expects a reply.
      </Empty>
    );
  const rows = waits.map((wait): Row => ({
    key: `${wait.message_id}-${wait.member_id}`,
    id: `${wait.message_id}-${wait.member_id}`,
    mark: monogram(wait.member_handle),
    title: [<Handle of={wait.sender_handle} />, ' waits for ', <Handle of={wait.member_handle} />],
    lines: [
      [
        <a href={conversationAddress(wait.thread_id)}>
          <bdi>{presentSubject(wait.subject) ?? 'Conversation without a subject'}</bdi>
        </a>,
        ['since ', <Time at={wait.since} />],
        wait.received ? 'delivered' : 'not delivered',
      ],
    ],
    badges: [
      wait.overdue && ['danger', 'Overdue'],
      wait.paused && ['warning', 'Paused'],
      [states[wait.wait_state].tone, states[wait.wait_state].label],
    ],
  }));
  return <Rows label="Missing answers" rows={rows} id="waits" />;
}
