import { stateBadges } from './approval-details.tsx';
import type { Approval } from '../../../services/approvals/approvals.ts';
import { Badge, ErrorNotice } from './content.tsx';
import { Decision, type DecisionProps, PostButton } from './form.tsx';
import { useLayoutContext } from './layout-context.ts';

interface ApprovalButtonsProps extends Pick<DecisionProps, 'hidden' | 'isLarge'> {
  approval: Approval;
}

/** The buttons that decide a pending approval, or the one that takes the decision back. */
export function ApprovalButtons({ approval, ...given }: ApprovalButtonsProps) {
  const { id, agent_handle, stored } = approval;
  const action = `/console/approvals/${id}`;
  const about = given.isLarge ? undefined : `the request of @${agent_handle}`;
  const undo = `${action}/undo`;
  return (
    <UndoableDecision
      stored={stored}
      undo={undo}
      action={action}
      yes="approve"
      no="deny"
      about={about}
      {...given}
    />
  );
}

/** The view in chat clients does not need the last one. */
const decisionBadges = { ...stateBadges, rejected: ['danger', 'Rejected'] } as const;

interface UndoableDecisionProps extends DecisionProps {
  stored: Approval['stored'] | undefined;
  /** The action of the button that takes the decision back. */
  undo: string;
}

/** Two buttons that decide something, or a decision that has not taken effect. The person who made it can take it back. */
function UndoableDecision({ stored, undo, ...decision }: UndoableDecisionProps) {
  const { person } = useLayoutContext();
  if (stored?.decision)
    return (
      <div class="button-pair undo">
        <Badge of={decisionBadges[stored.decision]} />
        {stored.account_id === person?.account_id && (
          <PostButton label="Undo" action={undo} hidden={decision.hidden} about={decision.about} />
        )}
      </div>
    );
  return (
    <>
      <ErrorNotice message={stored?.failure ?? undefined} />
      <Decision {...decision} />
    </>
  );
}

interface RequestButtonsProps {
  /** The path of the contacts of the agent. */
  address: string;
  request: {
    request_id: string;
    paused: boolean;
    from_handle: string;
    stored: Approval['stored'] | undefined;
  };
  hidden?: DecisionProps['hidden'];
}

/** The buttons that answer a contact request, or the one that takes the answer back. */
export function RequestButtons({ address, request, hidden }: RequestButtonsProps) {
  const { request_id, paused, from_handle, stored } = request;
  return (
    <UndoableDecision
      stored={stored}
      undo={`${address}/requests/undo`}
      action={`${address}/requests/decide`}
      hidden={{ ...hidden, request_id }}
      yes={paused ? undefined : 'approve'}
      no="reject"
      about={`@${from_handle}`}
    />
  );
}
