import { z } from 'zod';
import type { Actor } from '../../../../packages/core/src/domain/auth/actor.ts';
import {
  approvalActions,
  approvalDecisions,
  approvalStates,
} from '../../../../packages/core/src/domain/approvals.ts';
import { DomainError } from '../../../../packages/core/src/domain/errors.ts';
import { defineOperation, toolHints } from '../../../operations/define.ts';
import type { Approval } from '../../../services/approvals/approvals.ts';
import { approvalNotFound, approvalUrl } from '../../../services/approvals/decide.ts';
import type { Review } from '../../../services/approvals/reviews.ts';
import type { McpParts } from '../parts.ts';
import { createTool, type Tool } from '../tools/tools.ts';
import { createDecisionKeys } from './decision-keys.ts';

type ApprovalParts = Pick<
  McpParts,
  'findApproval' | 'listApprovals' | 'readReview' | 'decideApproval' | 'public_url' | 'sealedBox'
>;

const shownApproval = z.object({
  id: z.string(),
  agent_handle: z.string(),
  agent_display_name: z.string(),
  action: z.enum(approvalActions),
  target: z.string(),
  is_review: z.boolean(),
  recipients: z.array(z.string()),
  message: z.string(),
  client_name: z.string(),
  state: z.enum(approvalStates),
  reason: z.string().nullable(),
  created_at: z.int(),
  expires_at: z.int(),
  url: z.string(),
  /** Of one pending review. */
  texts: z.array(z.string()).optional(),
  about: z.string().optional(),
  files: z.array(z.object({ filename: z.string(), size_bytes: z.int() })).optional(),
});

const approvals = z.object({ approvals: z.array(shownApproval) });

const binding = (readOnlyHint: boolean) => ({
  description: 'For views.',
  annotations: readOnlyHint ? toolHints.read : toolHints.reachesOthers,
});

/** Whether the scopes of a token allow what an approval is about: a grant for contacts must not read or send messages. */
const mayDo = ({ scopes }: Actor, { action }: Pick<Approval, 'action'>, right: 'read' | 'write'): boolean =>
  scopes.has(
    action === 'request_contact' || action === 'remove_contact' ? `contacts:${right}` : `threads:${right}`,
  );

function requireScopeOf(approval: Approval, actor: Actor, right: 'read' | 'write'): Approval {
  if (mayDo(actor, approval, right)) return approval;
  throw approvalNotFound();
}

/**
 * The tools with which a view shows and decides approvals of its agent. Hosts hide them from the model, and a decision needs a key: it is only
 * in `_meta` of the result that the view gets, and only for the token of a person's grant. That of a credential belongs to a program.
 */
export function createApprovalTools(parts: ApprovalParts): Tool[] {
  const keys = createDecisionKeys(parts.sealedBox);
  /** An approval of the actor's agent, if the scopes of the token allow what it is about. @throws {DomainError} NOT_FOUND */
  const find = async (actor: Actor, id: string, right: 'read' | 'write'): Promise<Approval> =>
    requireScopeOf(await parts.findApproval(actor.agent_id, id), actor, right);
  const show = (approval: Approval, review?: Review | null) =>
    shownApproval.parse({ ...approval, ...review, url: approvalUrl(parts.public_url, approval.id) });

  const showApprovals = defineOperation({
    name: 'show_approvals',
    summary: 'Show the pending approvals of this agent, or one',
    scope: ['threads:read', 'contacts:read', 'threads:write', 'contacts:write'],
    kind: 'read',
    input: z.strictObject({ approval_id: z.string().optional() }),
    output: approvals,
    async run({ actor }, { approval_id }) {
      if (approval_id === undefined) {
        const rows = await parts.listApprovals(actor.agent_id);
        const shown = rows.filter((row) => row.state === 'pending' && mayDo(actor, row, 'read'));
        return { approvals: shown.map((row) => show(row)) };
      }
      const approval = await find(actor, approval_id, 'read');
      const isReview = approval.is_review && approval.state === 'pending';
      return { approvals: [show(approval, isReview ? await parts.readReview(approval) : undefined)] };
    },
    errors: ['NOT_FOUND'],
    example: { input: {}, output: { approvals: [] } },
  });

  const decideApproval = defineOperation({
    name: 'decide_approval',
    summary: 'Decide an approval, as the person in front of the view',
    scope: ['threads:write', 'contacts:write'],
    // The decision has a transaction of its own, and a repeated one changes nothing.
    kind: 'read',
    input: z.strictObject({
      approval_id: z.string(),
      decision: z.enum(approvalDecisions),
      key: z.string(),
      reason: z.string().max(500).optional(),
      texts: z.array(z.string()).optional(),
    }),
    output: approvals,
    async run({ actor }, { approval_id, decision, key, reason, texts }) {
      const approval = await find(actor, approval_id, 'write');
      if (!keys.isValid(key, actor, approval_id))
        throw new DomainError(
          'FORBIDDEN',
          `A person decides this, at ${approvalUrl(parts.public_url, approval_id)}`,
        );
      await parts.decideApproval(approval, decision, { reason, texts });
      return { approvals: [show(await parts.findApproval(actor.agent_id, approval_id))] };
    },
    errors: ['NOT_FOUND', 'FORBIDDEN', 'INVALID_TRANSITION'],
    example: {
      input: { approval_id: 'apr_01K9ZX6Q8T1V5X7Y9Z2B4D5E6F', decision: 'approved', key: 'AAAA' },
      output: { approvals: [] },
    },
  });

  /** A key for a pending approval that the result shows whole. */
  function decisionKey(output: object, actor: Actor): object {
    const { approvals: shown } = output as z.infer<typeof approvals>;
    const [approval, ...others] = shown;
    if (approval?.state !== 'pending' || others.length > 0 || 'truncated' in approval) return {};
    if (approval.is_review && !approval.texts) return {};
    const key = keys.create(actor, approval.id);
    return key === undefined ? {} : { decision_key: key };
  }

  return [
    { ...createTool(showApprovals, binding(true)), isForViews: true, metaOf: decisionKey },
    { ...createTool(decideApproval, binding(false)), isForViews: true },
  ];
}
