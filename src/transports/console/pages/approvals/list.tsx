import { describeWish } from '../../../../../packages/core/src/domain/approvals.ts';
import { isId } from '../../../../../packages/core/src/domain/ids.ts';
import { type Approval, listApprovals } from '../../../../services/approvals/approvals.ts';
import { Handle, type Row, Time } from '../../components/rows.tsx';
import { toPage } from '../../define/list.tsx';
import { definePage } from '../../define/page.tsx';
import type { PageVisit } from '../../define/section.ts';
import { Wish, stateBadges } from '../../components/approval-details.tsx';
import { ApprovalButtons } from '../../components/approval-buttons.tsx';

type Outcome = Pick<Approval, 'state' | 'is_review' | 'stored' | 'used_at' | 'expires_at' | keyof Decision>;
type Decision = Pick<Approval, 'decided_via' | 'decided_by' | 'decided_by_agent'>;

/** The state of an approval in one or two sentences. */
export function outcomeText(
  { state, is_review: isReview, stored, used_at, expires_at, ...decision }: Outcome,
  now = Date.now(),
): string {
  if (state === 'pending')
    return stored?.decision ? 'The decision takes effect within seconds.' : 'Waiting for a decision.';
  if (state === 'expired') return 'No one decided in time. The agent can ask again.';
  const by = deciderText(decision);
  const again = isReview || expires_at <= now ? '' : ' The agent can ask again 24 hours after its request.';
  if (state === 'denied') return `${by} denied it.${again}`;
  if (used_at !== null) return `${by} approved it, and it was done.`;
  return expires_at > now
    ? `${by} approved it. The agent can repeat the call within 24 hours.`
    : `${by} approved it, but the agent did not repeat the call in time.`;
}

/** Who decided, as the subject of a sentence. */
function deciderText({ decided_via, decided_by, decided_by_agent }: Decision): string {
  if (decided_via === 'program') return 'The user of the app';
  if (decided_via === 'agent') return decided_by_agent === null ? 'Another agent' : `@${decided_by_agent}`;
  return decided_by ?? 'An operator';
}

const path = '/console/approvals';
const pageSize = 25;
const maxRecentDecisions = 5;

const isDecided = ({ query }: PageVisit) => query.get('show') === 'decided';

function readApprovals({ read, person, query }: PageVisit, pending: boolean, limit = pageSize + 1) {
  const before = query.get('before') ?? '';
  const page = { pending, before: isId('approval', before) ? before : '', limit };
  return read(listApprovals, person.account_id, page);
}

/** Pending and decided approvals of a person. */
export const approvalsPage = definePage({
  path,
  isLive: true,
  title: (visit) => (isDecided(visit) ? 'Decided approvals' : 'Approvals'),
  lead: (visit) => (isDecided(visit) ? undefined : 'Actions of your agents that need your approval.'),
  back: (visit) => (isDecided(visit) ? { href: path, text: 'Approvals' } : undefined),
  sections: ({ list }) => [
    list({
      title: (visit) => (isDecided(visit) ? 'Decided' : 'Pending'),
      label: 'Approvals',
      noun: 'approvals',
      empty: (visit) =>
        isDecided(visit)
          ? 'No decided approvals yet.'
          : {
              title: 'No pending approvals',
              text: 'Decide here on messages that you review before an agent sends them, and on contacts that agents add or remove through MCP.',
            },
      async read(visit) {
        const found = await readApprovals(visit, !isDecided(visit));
        const kept = isDecided(visit) ? { show: 'decided' } : {};
        return toPage(found, pageSize, ({ id }) => ({ ...kept, before: id }));
      },
      row: approvalRow,
    }),
    list({
      title: 'Recently decided',
      label: 'Approvals',
      action: () => <a href={`${path}?show=decided`}>All decided</a>,
      read: async (visit) =>
        isDecided(visit) || visit.query.has('before')
          ? undefined
          : readApprovals(visit, false, maxRecentDecisions),
      row: approvalRow,
    }),
  ],
});

function approvalRow(approval: Approval): Row {
  const { id, agent_handle, created_at, decided_at, state, stored } = approval;
  const address = `${path}/${id}`;
  return {
    key: id,
    title: (
      <a href={address}>
        <Wish {...approval} />
      </a>
    ),
    lines: [
      [
        <Handle of={agent_handle} />,
        ['requested ', <Time at={created_at} />],
        decided_at !== null && ['decided ', <Time at={decided_at} />],
      ],
      [stored?.failure],
    ],
    badges: [
      state === 'pending' ? Boolean(stored?.failure) && ['warning', 'Not carried out'] : stateBadges[state],
    ],
    buttons: [
      state === 'pending' &&
        !stored?.decision && {
          label: 'Decide',
          href: address,
          kind: 'primary',
          about: `: wants to ${describeWish(approval)}`,
        },
    ],
    side: stored?.decision && <ApprovalButtons approval={approval} hidden={{ return_to: path }} />,
  };
}
