import type { Approval } from '../../../services/approvals/approvals.ts';
import { stateBadges } from './approval-text.ts';
import { Badge, ErrorNotice } from './content.tsx';
import { Decision, PostButton } from './form.tsx';
import { useLayoutContext } from './layout-context.ts';

interface ApprovalButtonsProps {
  approval: Approval;
  /** Hidden fields of the buttons. */
  hidden?: Record<string, string>;
  /** For the page of the approval. */
  isLarge?: boolean;
}

/** The buttons that decide a pending approval, or the one that takes the decision back. */
export function ApprovalButtons({ approval, hidden, isLarge = false }: ApprovalButtonsProps) {
  const { id, agent_handle, stored } = approval;
  const address = `/console/approvals/${id}`;
  const about = isLarge ? undefined : `the request of @${agent_handle}`;
  if (stored?.decision)
    return <Undo stored={stored} action={`${address}/undo`} hidden={hidden} about={about} />;
  return (
    <>
      <ErrorNotice message={stored?.failure ?? undefined} />
      <Decision action={address} hidden={hidden} yes="approve" no="deny" about={about} isLarge={isLarge} />
    </>
  );
}

interface UndoProps {
  stored: NonNullable<Approval['stored']>;
  action: string;
  hidden?: Record<string, string> | undefined;
  about: string | undefined;
}

/** A decision that has not taken effect. Who made it can take it back. */
function Undo({ stored: { decision, account_id }, action, hidden, about }: UndoProps) {
  const { person } = useLayoutContext();
  return (
    <div class="button-pair undo">
      <Badge of={stateBadges[decision ?? 'pending']} />
      {account_id === person?.account_id && (
        <PostButton label="Undo" action={action} hidden={hidden} about={about} />
      )}
    </div>
  );
}
