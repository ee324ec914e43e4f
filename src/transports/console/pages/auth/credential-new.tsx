import { authorFromPerson } from '../../../../domain/auth/audit.ts';
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { scopes as known } from '../../../../domain/auth/scopes.ts';
import { parseInput } from '../../../../operations/execute/parse-input.ts';
import { createCredential } from '../../../../services/auth/credentials.ts';
import { type AgentOfPerson, requireAgentOfPerson } from '../../../../services/people/agents.ts';
import { toResourceUrls } from '../../../../services/auth/tokens.ts';
import { actAsAgent } from '../../act-as-agent.ts';
import { Card, ErrorNotice } from '../../components/content.tsx';
import { Field } from '../../components/field.tsx';
import { Actions, Button, ButtonLink, Form } from '../../components/form.tsx';
import { ScopeChoices } from './scope-choices.tsx';
import { OneTimeSecrets } from '../../components/secrets.tsx';
import type { PageParts } from '../../parts.ts';
import { formPage, orShowFormAgain, type FormRefusal } from '../../form-errors.ts';
import { action, type ConsoleRoute, page, type ShownPage } from '../../route.ts';
import { agentAddress, AgentHeading } from '../agents/heading.tsx';

const path = '/console/agents/:id/credentials/new';

const inputSchema = z.strictObject({
  name: z.string().min(1, 'must have at least 1 character').max(60, 'must have at most 60 characters'),
  scopes: z.array(z.enum(known)).min(1, 'Choose one at least.').max(known.length),
  once: z.string().regex(/^[\w-]{22}$/),
});

/** Making a credential. The answer to the form is the page with the secret: no other page ever shows it. */
export function credentialNewRoutes(parts: PageParts): ConsoleRoute[] {
  const { unitOfWork, settings } = parts;
  return [
    page(path, async ({ params, person }) => {
      const { agent } = await actAsAgent(parts, person, params['id'] ?? '');
      return newCredentialPage(agent, { name: '', scopes: known.slice(0, 4), once: createIdempotencyKey() });
    }),
    action(path, async ({ params, person, form }) => {
      const { agent } = await actAsAgent(parts, person, params['id'] ?? '');
      const entered = {
        name: (form.get('name') ?? '').trim(),
        scopes: [...new Set(form.getAll('scopes'))],
        once: form.get('once') ?? '',
      };
      return orShowFormAgain(
        async () => {
          const input = parseInput(inputSchema, entered);
          const made = await unitOfWork.writeAsSystem(async (work) => {
            const { canonical_handle: handle } = await requireAgentOfPerson(
              work,
              person.account_id,
              agent.id,
              'acts_as',
            );
            return createCredential(work, { handle, ...input });
          }, authorFromPerson(person));
          return secretPage(agent, input.name, made, settings.public_url);
        },
        (refusal) =>
          refusal.code === 'INVALID_TRANSITION'
            ? { to: agentAddress(agent, 'credentials'), flash: { tone: 'warning', text: sentBeforeMessage } }
            : newCredentialPage(agent, { ...entered, once: createIdempotencyKey() }, refusal),
      );
    }),
  ];
}

const sentBeforeMessage =
  'This form was sent before, and its secret was shown then. If you do not have it, revoke that credential and make a new one.';

/** Tells one form from the next, so that one that is sent twice makes one credential. */
function createIdempotencyKey(): string {
  return randomBytes(16).toString('base64url');
}

interface Entered {
  name: string;
  scopes: readonly string[];
  once: string;
}

function newCredentialPage(agent: AgentOfPerson, entered: Entered, refusal?: FormRefusal): ShownPage {
  const wrong = refusal?.fields ?? {};
  const list = agentAddress(agent, 'credentials');
  const body = (
    <>
      <AgentHeading agent={agent} current={list} />
      <Card title="New credential">
        <ErrorNotice {...refusal} />
        <p>
          For a server of yours that acts as this agent by itself. Apps that a person sits at sign in by
          themselves and need none.
        </p>
        <Form action={`${list}/new`} hidden={{ once: entered.once }}>
          <Field
            name="name"
            label="Name"
            hint="What will use it, so that you know later what to revoke."
            value={entered.name}
            error={wrong['name']}
            maxlength={60}
            required
          />
          <ScopeChoices chosen={entered.scopes} error={wrong['scopes']} />
          <Actions>
            <Button>Create the credential</Button>
            <ButtonLink href={list}>Cancel</ButtonLink>
          </Actions>
        </Form>
      </Card>
    </>
  );
  return formPage('New credential', body, refusal);
}

type NewCredential = Awaited<ReturnType<typeof createCredential>>;

function secretPage(agent: AgentOfPerson, name: string, made: NewCredential, public_url: string): ShownPage {
  const { client_id, client_secret } = made;
  const list = agentAddress(agent, 'credentials');
  const body = (
    <>
      <AgentHeading agent={agent} current={list} />
      <Card title={name}>
        <OneTimeSecrets
          secrets={[
            { label: 'Client id', value: client_id },
            { label: 'Client secret', value: client_secret },
          ]}
        />
        <h3>Try it</h3>
        <p>This gets a token for the REST interface, good for 15 minutes. It holds the secret, too.</p>
        <pre tabIndex={0} aria-label="A call for a token">
          {[
            `curl ${public_url}/token`,
            `-u '${client_id}:${client_secret}'`,
            '-d grant_type=client_credentials',
            `-d resource=${toResourceUrls(public_url).api}`,
          ].join(' \\\n  ')}
        </pre>
        <Actions>
          <ButtonLink href={list} kind="primary">
            I have copied it
          </ButtonLink>
        </Actions>
      </Card>
    </>
  );
  return { title: 'Copy the secret', body };
}
