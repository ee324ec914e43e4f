import { z } from 'zod';
import { authorFromPerson } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { randomBytes } from 'node:crypto';
import {
  isScopePreset,
  scopePresets,
  scopes as allScopes,
} from '../../../../../packages/core/src/domain/auth/scopes.ts';
import { parseInput } from '../../../../../packages/core/src/inputs/parse-input.ts';
import { createCredential } from '../../../../services/auth/credentials.ts';
import { type AgentOfPerson, requireAgentOfPerson } from '../../../../services/people/agents.ts';
import { actAsAgent } from '../../act-as-agent.ts';
import { Card, ErrorNotice } from '../../components/content.tsx';
import { Field } from '../../components/field.tsx';
import { Actions, Button, ButtonLink, Form } from '../../components/form.tsx';
import { ScopeChoices } from './scope-choices.tsx';
import { CopyText, OneTimeSecrets } from '../../components/secrets.tsx';
import { toOneLine } from '../../../../../packages/core/src/domain/visible-text.ts';
import type { PageParts } from '../../parts.ts';
import { formPage, orShowFormAgain, type FormErrors } from '../../form-errors.ts';
import { action, type ConsoleRoute, page, type ShownPage } from '../../route.ts';
import { agentAddress, AgentHeading } from '../agents/heading.tsx';

const path = '/console/agents/:id/credentials/new';

const inputSchema = z.strictObject({
  name: z
    .string()
    .overwrite(toOneLine)
    .min(1, 'must have at least 1 character')
    .max(60, 'must have at most 60 characters'),
  scopes: z.array(z.enum(allScopes)).min(1, 'Choose at least one.').max(allScopes.length),
  idempotency_key: z.string().regex(/^[\w-]{22}$/),
});

/** Creates a credential. Only the response to the form shows the secret. */
export function credentialNewRoutes(parts: PageParts): ConsoleRoute[] {
  const { unitOfWork, settings } = parts;
  return [
    page(path, async ({ params, person, query }) => {
      const { agent } = await actAsAgent(parts, person, params['id'] ?? '');
      const preset = query.get('preset') ?? '';
      return newCredentialPage(agent, {
        name: '',
        scopes: scopePresets[isScopePreset(preset) ? preset : 'agent'],
        idempotency_key: createIdempotencyKey(),
      });
    }),
    action(path, async ({ params, person, form }) => {
      const { agent } = await actAsAgent(parts, person, params['id'] ?? '');
      const entered = {
        name: (form.get('name') ?? '').trim(),
        scopes: [...new Set(form.getAll('scopes'))],
        idempotency_key: form.get('idempotency_key') ?? '',
      };
      return orShowFormAgain(
        async () => {
          const { idempotency_key: once, ...input } = parseInput(inputSchema, entered);
          const credential = await unitOfWork.writeAsSystem(async (work) => {
            const { canonical_handle: handle } = await requireAgentOfPerson(
              work,
              person.account_id,
              agent.id,
              'acts_as',
            );
            return createCredential(work, { handle, ...input, once });
          }, authorFromPerson(person));
          return secretPage(agent, input.name, credential, settings.public_url);
        },
        (formErrors) =>
          formErrors.code === 'INVALID_TRANSITION'
            ? { to: agentAddress(agent, 'credentials'), flash: { tone: 'warning', text: sentBeforeMessage } }
            : newCredentialPage(agent, { ...entered, idempotency_key: createIdempotencyKey() }, formErrors),
      );
    }),
  ];
}

const sentBeforeMessage =
  'This form was already submitted and its secret was shown. If you do not have the secret, revoke that credential and create a new one.';

/** A random key per form, so that a form submitted twice creates one credential. */
function createIdempotencyKey(): string {
  return randomBytes(16).toString('base64url');
}

interface Entered {
  name: string;
  scopes: readonly string[];
  idempotency_key: string;
}

function newCredentialPage(agent: AgentOfPerson, entered: Entered, formErrors?: FormErrors): ShownPage {
  const errors = formErrors?.fields ?? {};
  const list = agentAddress(agent, 'credentials');
  const body = (
    <>
      <AgentHeading agent={agent} current={list} />
      <Card title="New credential">
        <ErrorNotice {...formErrors} />
        <p>
          A credential lets a server act as this agent without a person. Interactive apps sign in through the
          browser and need no credential.
        </p>
        <Form action={`${list}/new`} hidden={{ idempotency_key: entered.idempotency_key }}>
          <Field
            name="name"
            label="Name"
            hint="The program that uses the credential, so that you can find and revoke it later."
            value={entered.name}
            error={errors['name']}
            maxlength={60}
            required
          />
          <ScopeChoices
            chosen={entered.scopes}
            presetAddress={(preset) => `${list}/new?preset=${preset}`}
            error={errors['scopes']}
          />
          <Actions>
            <Button>Create credential</Button>
            <ButtonLink href={list}>Cancel</ButtonLink>
          </Actions>
        </Form>
      </Card>
    </>
  );
  return formPage('New credential', body, formErrors);
}

type NewCredential = Awaited<ReturnType<typeof createCredential>>;

function secretPage(
  agent: AgentOfPerson,
  name: string,
  credential: NewCredential,
  public_url: string,
): ShownPage {
  const { client_id, client_secret } = credential;
  const list = agentAddress(agent, 'credentials');
  const body = (
    <>
      <AgentHeading agent={agent} current={list} />
      <Card title={name}>
        <OneTimeSecrets
          secrets={[
            { label: 'Client ID', value: client_id },
            { label: 'Client secret', value: client_secret },
          ]}
        />
        <h3>Try it</h3>
        <p>
          This command requests an access token for the whole service, valid for 15 minutes. It contains the
          secret.
        </p>
        <CopyText
          label="Token request"
          text={[
            `curl ${public_url}/token`,
            `-u '${client_id}:${client_secret}'`,
            '-d grant_type=client_credentials',
          ].join(' \\\n  ')}
        />
        <Actions>
          <ButtonLink href={list} kind="primary">
            Done
          </ButtonLink>
        </Actions>
      </Card>
    </>
  );
  return { title: 'Copy the secret', body, script: 'copy' };
}
