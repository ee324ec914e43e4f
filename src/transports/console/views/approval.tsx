import { useEffect, useState } from 'preact/hooks';
import { Badge, Card, Facts, Notice, Quote } from '../components/content.tsx';
import { TextArea } from '../components/field.tsx';
import {
  approvalFacts,
  textLabel,
  Wish,
  consequenceText,
  stateBadges,
} from '../components/approval-details.tsx';
import { Handle } from '../components/rows.tsx';
import { type Action, ActionButton, ActionError, useAction } from './action.tsx';
import { readError, readValue, type ViewHost } from './host.ts';
import type { ApprovalsValue, ShownApproval } from './results.ts';

interface Loaded {
  approval: ShownApproval;
  /** The view decides with this key. Undefined: only the page does. */
  key: string | undefined;
}

interface ApprovalProps {
  host: ViewHost;
  approval_id: string;
  /** Its page, for hosts that call no tools for a view. */
  url: string | undefined;
}

/** One approval: what the agent wants, and the buttons of the decision. */
export function Approval({ host, approval_id, url }: ApprovalProps) {
  const [loaded, setLoaded] = useState<Loaded>();
  const action = useAction();

  async function ask(name: string, args: object): Promise<void> {
    const result = await host.callTool(name, { approval_id, ...args });
    const error = readError(result);
    if (error) throw new Error(error.message ?? 'This did not work.');
    const { approvals = [] } = readValue(result) as Partial<ApprovalsValue>;
    const [approval] = approvals;
    const key = result['_meta']?.['decision_key'];
    if (approval) setLoaded({ approval, key: typeof key === 'string' ? key : undefined });
  }

  const decide = (args: object) => ask('decide_approval', { ...args, key: loaded?.key });

  useEffect(() => {
    if (host.canCall) action.run(() => ask('show_approvals', {}));
  }, [approval_id]);

  const page = loaded?.approval.url ?? url;
  const isPending = loaded?.approval.state === 'pending';
  return (
    <>
      {loaded ? (
        <Details {...loaded} action={action} onDecide={decide} />
      ) : (
        !action.isBusy && <Notice tone="accent">A person must approve this call first.</Notice>
      )}
      <ActionError of={action} />
      {page !== undefined && host.canOpen && (loaded === undefined || (isPending && !loaded.key)) && (
        <div class="actions">
          <ActionButton of={action} kind="primary" onPress={async () => void (await host.openLink(page))}>
            Decide on the approval page
          </ActionButton>
        </div>
      )}
    </>
  );
}

interface DetailsProps extends Loaded {
  action: Action;
  onDecide: (args: object) => Promise<void>;
}

function Details({ approval, key, action, onDecide }: DetailsProps) {
  const { message, state, is_review: isReview, texts = [], about = '', files } = approval;
  const isPending = state === 'pending';
  return (
    <Card>
      <h1>
        <Wish {...approval} />
      </h1>
      <p role="status">
        <Badge of={stateBadges[state]} /> {outcomes[state]}
      </p>
      {isPending && <p>{consequenceText(approval)}</p>}
      {!(isPending && isReview) && <Quote text={message} />}
      <Facts
        facts={[
          ['Your agent', <Handle of={approval.agent_handle} />],
          ...approvalFacts(approval, files, (handle) => <Handle of={handle} />),
        ]}
      />
      {isPending && <Quote text={about} />}
      {isPending &&
        (key === undefined ? (
          texts.map((text, at) => <Quote key={at} text={text} />)
        ) : (
          <Form texts={texts} action={action} onDecide={onDecide} />
        ))}
    </Card>
  );
}

const outcomes = {
  pending: 'Waiting for a decision.',
  approved: 'The approved action was carried out.',
  denied: 'The agent was told about the denial.',
  expired: 'No one decided in time. The agent can ask again.',
} as const satisfies Record<ShownApproval['state'], string>;

/** The texts can be edited. The agent gets the reason of a denial. */
function Form({
  texts,
  action,
  onDecide,
}: { texts: readonly string[] } & Pick<DetailsProps, 'action' | 'onDecide'>) {
  const [edited, setEdited] = useState(texts);
  const [reason, setReason] = useState('');
  const isReview = texts.length > 0;
  // An unedited repeat confirms the decision; one with texts could be another one.
  const isEdited = edited.some((text, at) => text !== texts[at]);
  return (
    <>
      {texts.map((text, at) => (
        <div
          key={at}
          onInput={({ target }) =>
            setEdited(edited.map((one, place) => (place === at ? valueOf(target) : one)))
          }
        >
          <TextArea label={textLabel(at, texts.length)} name={`text_${at}`} value={text} />
        </div>
      ))}
      <div onInput={({ target }) => setReason(valueOf(target))}>
        <TextArea
          label="Reason, if you deny it"
          hint="The agent gets it."
          name="reason"
          rows={2}
          maxlength={500}
        />
      </div>
      <div class="actions">
        <ActionButton
          of={action}
          kind="primary"
          onPress={() => onDecide({ decision: 'approved', ...(isEdited && { texts: edited }) })}
        >
          {isReview ? 'Approve and send' : 'Approve'}
        </ActionButton>
        <ActionButton
          of={action}
          onPress={() =>
            onDecide({ decision: 'denied', ...(reason.trim() !== '' && { reason: reason.trim() }) })
          }
        >
          Deny
        </ActionButton>
      </div>
    </>
  );
}

const valueOf = (control: unknown): string => String(Object(control).value ?? '');
