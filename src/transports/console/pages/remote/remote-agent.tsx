import { parseInput } from '../../../../../packages/core/src/inputs/parse-input.ts';
import { presentRemoteAgent } from '../../../../../packages/core/src/records/remote-agent.ts';
import { updateRemoteAgentOperation } from '../../../../operations/remote/update-remote-agent.ts';
import { requireRemoteAgentOfPerson } from '../../../../services/remote/access.ts';
import {
  confirmForPerson,
  refreshForPerson,
  removeForPerson,
  updateForPerson,
} from '../../../../services/remote/of-person.ts';
import { Card, Facts, Notice } from '../../components/content.tsx';
import { ButtonLink, PostButton } from '../../components/form.tsx';
import { Handle, Time } from '../../components/rows.tsx';
import { textField } from '../../define/fields.tsx';
import { defineConfirmation, definePage } from '../../define/page.tsx';
import type { PageVisit } from '../../define/section.ts';
import {
  credentialAliases,
  credentialChoices,
  credentialFields,
  toCredential,
  RemoteState,
  remotePath,
} from './fields.tsx';

const path = `${remotePath}/:id`;

type RemoteVisit = PageVisit & Awaited<ReturnType<typeof load>>;

/** The agent, and what names it to the services. */
async function load({ read, person, params }: PageVisit) {
  const of = { account_id: person.account_id, agent_id: params['id'] ?? '' };
  const found = await read(requireRemoteAgentOfPerson, of.account_id, of.agent_id);
  return { agent: presentRemoteAgent(found), of };
}

/** One agent of another system: what its card says, whether messages are sent to it, and how this service signs in there. */
export const remoteAgentPage = definePage({
  path,
  load,
  title: ({ agent }) => agent.display_name,
  back: { href: remotePath, text: 'Agents of other systems' },
  sections: ({ form }) => [
    showState,
    showIdentity,
    form({
      name: 'name',
      title: 'Name',
      fields: {
        display_name: textField('Name to show', 'Your name for it stays when its card changes.', {
          maxlength: 100,
          required: true,
        }),
      },
      values: ({ agent }) => ({ display_name: agent.display_name }),
      button: 'Save name',
      async submit({ write, of }, entered) {
        await write(updateForPerson, of, parseChanges(of.agent_id, entered));
        return 'Name saved.';
      },
    }),
    form({
      name: 'credential',
      title: 'Credential',
      text: 'How this service signs in there. It is stored encrypted and never shown.',
      fields: credentialFields,
      isShown: ({ agent }) => agent.credential !== 'invitation',
      values: ({ agent }) => ({ kind: agent.credential }),
      aliases: credentialAliases,
      button: 'Replace credential',
      async submit({ write, of }, entered) {
        await write(updateForPerson, of, parseChanges(of.agent_id, { credential: toCredential(entered) }));
        return 'Credential replaced.';
      },
    }),
  ],
  changes: {
    async confirm({ write, of, form }) {
      await write(confirmForPerson, of, form.get('fingerprint') ?? '');
      return 'Confirmed. Messages are sent to it now.';
    },
    async refresh({ write, of, parts }) {
      await parts.limits.consume('webhook_test', of.account_id);
      await write(refreshForPerson, of);
      return 'Its card is being read. Waiting messages are sent again. Reload this page in a moment.';
    },
  },
});

/** Removes an agent of another system. */
export const remoteAgentRemovePage = defineConfirmation({
  path: `${path}/remove`,
  load,
  title: ({ agent }) => `Remove ${agent.display_name}?`,
  text: () => (
    <p>
      Nothing more is sent to it. Its threads stay, and its handle cannot be used again. This cannot be
      undone.
    </p>
  ),
  button: 'Remove agent',
  back: ({ agent }) => `${remotePath}/${agent.id}`,
  async change({ write, of }) {
    await write(removeForPerson, of);
    return { to: remotePath, flash: 'Agent removed.' };
  },
});

function parseChanges(agent_ref: string, changes: object) {
  const { agent_ref: _ref, ...parsed } = parseInput(updateRemoteAgentOperation.input, {
    agent_ref,
    ...changes,
  });
  return parsed;
}

/** Whether messages are sent, why not, and the buttons. */
function showState({ agent, address }: RemoteVisit) {
  const { waiting_for, fingerprint, confirmed_fingerprint, card_error, expires_at } = agent;
  const { failing_since, last_delivered_at, last_error } = agent;
  const isChanged = waiting_for === 'person' && confirmed_fingerprint !== null;
  return (
    <Card title={<Handle of={agent.canonical_handle} />} action={<RemoteState {...agent} />}>
      {waiting_for === 'person' && (
        <Notice tone="warning" title={isChanged ? 'Its card has changed' : 'Confirm this agent'}>
          {isChanged
            ? 'Other keys sign its card, or messages or secrets would go to another host. Nothing is sent until you confirm it. Ask its owner if you did not expect this.'
            : 'Nothing is sent until you confirm it. Compare the fingerprint with that of its owner.'}
          {expires_at !== null && (
            <>
              {' '}
              Without your confirmation it is removed <Time at={expires_at} />.
            </>
          )}
        </Notice>
      )}
      {card_error !== null && (
        <Notice tone="danger" title="Its card cannot be read">
          {card_error}. This service tries again.
        </Notice>
      )}
      <Facts
        facts={[
          ['Last delivery', last_delivered_at === null ? 'None yet' : <Time at={last_delivered_at} />],
          last_error !== null && ['Last error', last_error],
          failing_since !== null && ['Failing since', <Time at={failing_since} />],
        ]}
      />
      <div class="actions">
        {waiting_for === 'person' && fingerprint !== null && (
          <PostButton label="Confirm" action={`${address}/confirm`} hidden={{ fingerprint }} kind="primary" />
        )}
        <PostButton
          label={waiting_for === null && failing_since !== null ? 'Send again' : 'Check again'}
          action={`${address}/refresh`}
        />
        <ButtonLink href={`${address}/remove`} kind="danger">
          Remove
        </ButtonLink>
      </div>
    </Card>
  );
}

/** What a person confirms. All of it comes from the other system. */
function showIdentity({ agent }: RemoteVisit) {
  const { card_url, provider, description, skills, signed_by, fingerprint, token_url, credential } = agent;
  const kind = credentialChoices.find(({ value }) => value === credential);
  return (
    <Card title="What its card says">
      <Facts
        facts={[
          ['Card', <span class="code">{card_url}</span>],
          provider !== null && ['Provider', <bdi>{provider}</bdi>],
          description !== '' && ['Description', <bdi>{description}</bdi>],
          skills.length > 0 && ['Skills', skills.map(({ name }) => name).join(', ')],
          agent.interface !== null && [
            'Messages go to',
            <>
              <span class="code">{agent.interface.url}</span> (A2A {agent.interface.version},{' '}
              {agent.interface.binding})
            </>,
          ],
          token_url !== null && ['Tokens come from', <span class="code">{token_url}</span>],
          fingerprint !== null && [
            'Signed by',
            signed_by.length === 0 ? (
              'Nothing signs this card.'
            ) : (
              <span class="code">{signed_by.join(', ')}</span>
            ),
          ],
          fingerprint !== null && ['Fingerprint', <span class="code">{fingerprint}</span>],
          ['Credential', kind?.title ?? 'Of an invitation'],
          agent.only_with !== null && ['Talks only with', <Handle of={agent.only_with} />],
        ]}
      />
    </Card>
  );
}
