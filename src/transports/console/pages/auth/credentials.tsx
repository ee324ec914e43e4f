import {
  type Credential,
  listCredentialsPage,
  requireCredential,
  revokeCredential,
  createCredential,
  rotateCredential,
} from '../../../../services/auth/credentials.ts';
import { ButtonLink } from '../../components/form.tsx';
import { Time } from '../../components/rows.tsx';
import { toPage } from '../../define/list.tsx';
import { agentConfirmation, agentPage, type AgentVisit, AgentHeading } from '../agents/agent-page.tsx';
import { presetNames, Scopes, scopeField } from './scopes.tsx';
import { z } from 'zod';
import {
  isScopePreset,
  scopePresets,
  scopes as allScopes,
} from '../../../../../packages/core/src/domain/auth/scopes.ts';
import { toOneLine } from '../../../../../packages/core/src/domain/visible-text.ts';
import { parseInput } from '../../../../../packages/core/src/inputs/parse-input.ts';
import { CopyText, secretPage } from '../../components/secrets.tsx';
import { textField, hiddenField, selectField } from '../../define/fields.tsx';
import { redirectOrWarn } from '../../form-errors.ts';

const inputSchema = z.strictObject({
  name: z
    .string()
    .overwrite(toOneLine)
    .min(1, 'must have at least 1 character')
    .max(60, 'must have at most 60 characters'),
  scopes: z.array(z.enum(allScopes)).min(1, 'Choose at least one.').max(allScopes.length),
});

/** Creates a credential. Only the response to the form shows the secret. */
export const credentialNewPage = agentPage({
  path: 'credentials/new',
  title: 'New credential',
  sections: ({ form }) => [
    form({
      title: 'New credential',
      // Its links are before the form: they would lose what was entered.
      text: ({ address }) => (
        <>
          <p>
            A credential lets a server act as this agent without a person. Interactive apps sign in through
            the browser and need no credential.
          </p>
          <p>
            Start with the permissions:
            {Object.entries(presetNames).map(([preset, name]) => [
              ' ',
              <a href={`${address}?preset=${preset}`}>{name}</a>,
            ])}
          </p>
        </>
      ),
      fields: {
        name: textField(
          'Name',
          'The program that uses the credential, so that you can find and revoke it later.',
          { maxlength: 60, required: true },
        ),
        scopes: scopeField,
      },
      values({ query }) {
        const preset = query.get('preset') ?? '';
        return { scopes: scopePresets[isScopePreset(preset) ? preset : 'agent'] };
      },
      button: 'Create credential',
      cancel: ({ agentPath }) => agentPath('credentials'),
      once: true,
      submit({ agent, agentPath, change, parts }, entered, { key: once }) {
        const input = parseInput(inputSchema, entered);
        return redirectOrWarn(agentPath('credentials'), async () => {
          const handle = agent.canonical_handle;
          const { client_id, client_secret } = await change(createCredential, { handle, ...input, once });
          const command = [
            `curl ${parts.settings.public_url}/token`,
            `-u '${client_id}:${client_secret}'`,
            '-d grant_type=client_credentials',
          ];
          return secretPage({
            heading: <AgentHeading agent={agent} />,
            title: input.name,
            secrets: clientSecrets(client_id, client_secret),
            text: (
              <>
                <h3>Try it</h3>
                <p>
                  This command requests an access token for the whole service, valid for 15 minutes. It
                  contains the secret.
                </p>
                <CopyText label="Token request" text={command.join(' \\\n  ')} />
              </>
            ),
            next: agentPath('credentials'),
          });
        });
      },
    }),
  ],
});

/** What a program needs to sign in. */
function clientSecrets(client_id: string, client_secret: string) {
  return [
    { label: 'Client ID', value: client_id },
    { label: 'Client secret', value: client_secret },
  ];
}

const titleOf = ({ name, client_id }: Credential) => `Rotate the secret of ${name ?? client_id}`;

/** Replaces the secret of a credential. Only the response to the form shows the new one. */
export const credentialRotatePage = agentPage({
  path: 'credentials/:client_id/rotate',
  load: loadCredential,
  title: ({ credential }) => titleOf(credential),
  sections: ({ form }) => [
    form({
      title: ({ credential }) => titleOf(credential),
      text: 'The credential gets a new secret, which is shown once. Its client ID and scopes stay.',
      fields: {
        rotated_at: hiddenField,
        previous: selectField(
          'The previous secret',
          [
            { value: 'keep', text: 'Works for 24 hours more' },
            { value: 'end', text: 'Ends now' },
          ],
          { hint: 'End it now if others may know it: its tokens and open connections end, too.' },
        ),
      },
      values: ({ credential }) => ({ previous: 'keep', rotated_at: String(credential.rotated_at ?? 0) }),
      button: 'Rotate secret',
      cancel: ({ agentPath }) => agentPath('credentials'),
      submit: ({ agent, agentPath, change, parts, credential }, { previous, rotated_at }) =>
        redirectOrWarn(agentPath('credentials'), async () => {
          const { client_id, name } = credential;
          const seen = Number.parseInt(rotated_at, 10) || 0;
          const input = { client_id, agent_id: agent.id, seen, end_previous: previous !== 'keep' };
          const { client_secret, previous_secret_until, ended } = await change(rotateCredential, input);
          await parts.publishRevocations(ended);
          return secretPage({
            heading: <AgentHeading agent={agent} />,
            title: name ?? client_id,
            secrets: clientSecrets(client_id, client_secret),
            text:
              previous_secret_until === null ? (
                <p>The previous secret no longer works.</p>
              ) : (
                <p>
                  The previous secret works until <Time at={previous_secret_until} />.
                </p>
              ),
            next: agentPath('credentials'),
          });
        }),
    }),
  ],
});

const pageSize = 25;
const isActive = ({ query }: AgentVisit) => query.get('show') !== 'revoked';

/** The credentials of an agent, for programs without a person. */
export const credentialsPage = agentPage({
  path: 'credentials',
  title: ({ agent }) => `Credentials of ${agent.display_name}`,
  sections: ({ list }) => [
    list({
      title: (visit) => (isActive(visit) ? 'Credentials' : 'Revoked credentials'),
      label: 'Credentials',
      noun: 'credentials',
      empty: (visit) =>
        isActive(visit)
          ? {
              title: 'No credentials',
              text: 'A server uses a credential to act as this agent without a person.',
            }
          : 'No revoked credentials.',
      action: (visit) =>
        isActive(visit) && (
          <ButtonLink href={`${visit.address}/new`} kind="primary">
            New credential
          </ButtonLink>
        ),
      async read(visit) {
        const active = isActive(visit);
        const filter = { active, before: visit.query.get('before'), limit: pageSize + 1 };
        const found = await visit.read(listCredentialsPage, visit.agent.id, filter);
        return toPage(found, pageSize, (last) => ({
          ...(!active && { show: 'revoked' }),
          before: last.client_id,
        }));
      },
      row: ({ client_id, name, revoked_at, ...credential }) => ({
        key: client_id,
        title: name ?? 'Unnamed',
        lines: [
          [<span class="code">{client_id}</span>],
          [<Scopes scopes={credential.scopes} />],
          [
            ['Created ', <Time at={credential.created_at} />],
            credential.last_used_at === null
              ? 'never used'
              : ['used ', <Time at={credential.last_used_at} />],
            credential.rotated_at !== null && ['secret of ', <Time at={credential.rotated_at} />],
          ],
        ],
        badges: [revoked_at !== null && ['plain', ['Revoked ', <Time at={revoked_at} />]]],
        buttons:
          revoked_at === null
            ? [
                { label: 'Rotate', href: `${client_id}/rotate`, about: `the secret of ${name ?? client_id}` },
                { label: 'Revoke', href: `${client_id}/revoke`, about: name ?? client_id },
              ]
            : [],
      }),
    }),
    (visit) => (
      <p class="aside">
        {isActive(visit) ? (
          <a href={`${visit.address}?show=revoked`}>Revoked credentials</a>
        ) : (
          <a href={visit.address}>Active credentials</a>
        )}
      </p>
    ),
  ],
});

/** Reads the credential of a page. @throws {DomainError} NOT_FOUND */
async function loadCredential({ read, agent, params }: AgentVisit): Promise<{ credential: Credential }> {
  return { credential: await read(requireCredential, agent.id, params['client_id'] ?? '') };
}

/** Revokes a credential and its tokens. */
export const credentialRevokePage = agentConfirmation({
  path: 'credentials/:client_id/revoke',
  load: loadCredential,
  title: ({ credential: { name, client_id } }) => `Revoke ${name ?? client_id}?`,
  text: ({ agent }) => (
    <p>
      Programs that use it to sign in as {agent.display_name} lose access immediately: tokens and open
      connections end. This cannot be undone. You can create a new credential.
    </p>
  ),
  button: 'Revoke',
  back: ({ agentPath }) => agentPath('credentials'),
  async change({ change, parts, agent, credential: { client_id, revoked_at } }) {
    if (revoked_at === null)
      await parts.publishRevocations(await change(revokeCredential, client_id, agent.id));
    return 'Credential revoked.';
  },
});
