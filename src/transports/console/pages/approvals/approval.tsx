import { type Approval, requireApprovalForPerson } from '../../../../services/approvals/approvals.ts';
import { cardPath, Handle, Time } from '../../components/rows.tsx';
import { Badge, Card, ErrorNotice, Facts, Heading, Quote } from '../../components/content.tsx';
import { Actions, Button, ButtonLink, Form } from '../../components/form.tsx';
import { Field, TextArea } from '../../components/field.tsx';
import {
  approvalFacts,
  textLabel,
  Wish,
  consequenceText,
  stateBadges,
  undoHint,
} from '../../components/approval-details.tsx';
import { storeDecision, undoDecision } from '../../../../services/approvals/stored-decisions.ts';
import { readReview, type Review } from '../../../../services/approvals/reviews.ts';
import { type ApprovalDecision, describeWish } from '../../../../../packages/core/src/domain/approvals.ts';
import { wrongField } from '../../../../../packages/core/src/domain/errors.ts';
import { requireAgentOfPerson } from '../../../../services/people/agents.ts';
import { requireNotPaused } from '../../act-as-agent.ts';
import { definePage } from '../../define/page.tsx';
import type { PageVisit } from '../../define/section.ts';
import { redirectOrWarn } from '../../form-errors.ts';
import { ApprovalButtons } from '../../components/approval-buttons.tsx';
import { outcomeText } from './list.tsx';

interface ApprovalVisit extends PageVisit {
  approval: Approval;
  review: Review | null;
}

const back = { href: '/console/approvals', text: 'Approvals' };

/** What each button decides. */
const decisions = new Map([
  ['approve', 'approved'],
  ['trust', 'approved'],
  ['deny', 'denied'],
] as const satisfies readonly [string, ApprovalDecision][]) as ReadonlyMap<string, ApprovalDecision>;

/** A longer text is not in the form, in UTF-8 bytes: each becomes up to three in a form. */
const maxEditedBytes = 96 * 1_024;

/** One approval. Clients show the address of this page to their user. */
export const approvalPage = definePage({
  path: '/console/approvals/:id',
  isLive: true,
  async load({ read, person, params }) {
    const approval = await read(requireApprovalForPerson, person.account_id, params['id'] ?? '');
    return { approval, review: approval.is_review ? await read(readReview, approval) : null };
  },
  title: ({ approval }) => `${approval.agent_display_name} wants to ${describeWish(approval)}`,
  heading: ({ approval }) => <Heading title={<Wish {...approval} />} back={back} />,
  sections: () => [
    {
      show: showDetails,
      form: {
        name: '',
        maxFormBytes: 384 * 1_024,
        submit: ({ address, approval, review, form, person, read, write }) =>
          redirectOrWarn(address, async () => {
            const pressed = form.get('decision') ?? '';
            const decision = decisions.get(pressed);
            if (!decision) throw wrongField('decision', 'press one of the buttons');
            if (decision === 'approved')
              requireNotPaused(
                await read(requireAgentOfPerson, person.account_id, approval.agent_id, 'acts_as'),
              );
            const details = {
              texts: review && decision === 'approved' ? readEdited(form, review.texts) : undefined,
              trust: pressed === 'trust',
              reason: form.get('reason')?.trim().slice(0, 500),
            };
            const canUndo = await write(storeDecision, person.account_id, approval.id, decision, details);
            return canUndo ? undoHint : `This was ${decision} before. Nothing was changed.`;
          }),
      },
    },
  ],
  changes: {
    async undo({ approval, person, write }) {
      await write(undoDecision, person.account_id, approval.id);
      return 'Undone. Nothing was decided.';
    },
  },
});

function showDetails({ approval, review, address, person }: ApprovalVisit) {
  const { agent_handle, message, state, decided_at, stored } = approval;
  const agentPage = `/console/agents/${approval.agent_id}`;
  // After a failure the texts are only for the person who wrote them.
  const isShown = stored?.decision != null || stored?.account_id === person.account_id;
  const texts = (isShown && stored?.texts) || (review?.texts ?? []);
  const isPending = state === 'pending';
  return (
    <Card>
      <p>
        <Badge of={stateBadges[state]} /> {outcomeText(approval)}
      </p>
      {isPending && <p>{consequenceText(approval)}</p>}
      {message !== '' && !(isPending && review) && (
        <div>
          <p class="hint">Message:</p>
          <Quote text={message} />
        </div>
      )}
      <Facts
        facts={[
          ['Your agent', toLink(agent_handle, agentPage)],
          ...approvalFacts(approval, review?.files, (handle) => toLink(handle, cardPath(handle))),
          review?.thread_id != null && [
            'Conversation',
            <a href={`${agentPage}/threads/${review.thread_id}`}>Open</a>,
          ],
          isPending && ['Expires', <Time at={approval.expires_at} />],
          decided_at !== null && ['Decided', <Time at={decided_at} />],
        ]}
      />
      {isPending ? (
        review && !stored?.decision ? (
          <ReviewForm approval={approval} review={review} texts={texts} address={address} />
        ) : (
          <>
            {texts.map((text) => (
              <Quote text={text} />
            ))}
            <ApprovalButtons approval={approval} isLarge />
          </>
        )
      ) : (
        <Actions>
          <ButtonLink href={back.href}>All approvals</ButtonLink>
        </Actions>
      )}
    </Card>
  );
}

const toLink = (handle: string, href: string) => (
  <a href={href}>
    <Handle of={handle} />
  </a>
);

/** The texts can be edited, unless those of the agent are too long together. The agent gets the reason of a denial. */
function ReviewForm({
  approval,
  review,
  texts,
  address,
}: Pick<ApprovalVisit, 'approval' | 'address'> & { review: Review; texts: readonly string[] }) {
  const isEditable = Buffer.byteLength(review.texts.join('')) <= maxEditedBytes;
  const [first, ...others] = approval.recipients;
  const trusted = others.length === 0 ? `@${first}` : `these ${approval.recipients.length} agents`;
  return (
    <>
      <ErrorNotice message={approval.stored?.failure ?? undefined} />
      <Quote text={review.about} />
      <Form action={address}>
        {texts.map((text, at) =>
          isEditable ? (
            <TextArea label={textLabel(at, texts.length)} name={`text_${at}`} value={text} rows={8} />
          ) : (
            <Quote text={text} />
          ),
        )}
        <Actions>
          <Button name="decision" value="approve">
            Approve and send
          </Button>
          <Button kind="quiet" name="decision" value="trust">
            Approve, and trust {trusted} from now on
          </Button>
        </Actions>
      </Form>
      <Form action={address}>
        <Field label="Reason, if you deny it" hint="The agent gets it." name="reason" maxlength={500} />
        <Actions>
          <Button kind="quiet" name="decision" value="deny">
            Deny
          </Button>
        </Actions>
      </Form>
    </>
  );
}

/** The texts of the form, if one of them was changed. Browsers send line breaks as CRLF. */
function readEdited(form: URLSearchParams, texts: readonly string[]): string[] | undefined {
  const lines = (text: string) => text.replaceAll(/\r\n?/g, '\n');
  const sent = texts.map((text, at) => {
    const entered = form.get(`text_${at}`);
    return entered === null || lines(entered) === lines(text) ? text : lines(entered);
  });
  return sent.some((text, at) => text !== texts[at]) ? sent : undefined;
}
