import { byPerson } from '../../domain/audit.ts';
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { scopes as known } from '../../domain/scopes.ts';
import { parseInput } from '../../operations/parse.ts';
import { createCredential } from '../../services/credentials.ts';
import { type AgentOfPerson, agentOfPerson } from '../../services/person-agents.ts';
import { resourceAddresses } from '../../services/tokens.ts';
import { actingAs } from '../acting.ts';
import { Card, Refused } from '../kit/content.tsx';
import { Field } from '../kit/field.tsx';
import { Actions, Button, ButtonLink, Form } from '../kit/form.tsx';
import { ScopeChoices } from '../kit/scopes.tsx';
import { OnceShown } from '../kit/secret.tsx';
import type { PageParts } from '../parts.ts';
import { formPage, orAgain, type Refusal } from '../refusal.ts';
import { action, type ConsoleRoute, page, type ShownPage } from '../route.ts';
import { agentAddress, AgentHeading } from './agent-heading.tsx';

const path = '/console/agents/:id/credentials/new';

const wanted = z.strictObject({
  name: z.string().min(1, 'must have a character at least').max(60, 'must have at most 60 characters'),
  scopes: z.array(z.enum(known)).min(1, 'Choose one at least.').max(known.length),
  once: z.string().regex(/^[\w-]{22}$/),
});

/** Making a credential. The answer to the form is the page with the secret: no other page ever shows it. */
export function credentialNewRoutes(parts: PageParts): ConsoleRoute[] {
  const { unitOfWork, settings } = parts;
  return [
    page(path, async ({ params, person }) => {
      const { agent } = await actingAs(parts, person, params['id'] ?? '');
      return newCredentialPage(agent, { name: '', scopes: known.slice(0, 4), once: onceToken() });
    }),
    action(path, async ({ params, person, form }) => {
      const { agent } = await actingAs(parts, person, params['id'] ?? '');
      const entered = {
        name: (form.get('name') ?? '').trim(),
        scopes: [...new Set(form.getAll('scopes'))],
        once: form.get('once') ?? '',
      };
      return orAgain(
        async () => {
          const input = parseInput(wanted, entered);
          const made = await unitOfWork.administer(async (work) => {
            const { canonical_handle: handle } = await agentOfPerson(
              work,
              person.account_id,
              agent.id,
              'acts_as',
            );
            return createCredential(work, { handle, ...input });
          }, byPerson(person));
          return secretPage(agent, input.name, made, settings.public_url);
        },
        (refusal) =>
          refusal.code === 'INVALID_TRANSITION'
            ? { to: agentAddress(agent, 'credentials'), flash: { tone: 'warning', text: sentBefore } }
            : newCredentialPage(agent, { ...entered, once: onceToken() }, refusal),
      );
    }),
  ];
}

const sentBefore =
  'This form was sent before, and its secret was shown then. If you do not have it, revoke that credential and make a new one.';

/** Tells one form from the next, so that one that is sent twice makes one credential. */
function onceToken(): string {
  return randomBytes(16).toString('base64url');
}

interface Entered {
  name: string;
  scopes: readonly string[];
  once: string;
}

function newCredentialPage(agent: AgentOfPerson, entered: Entered, refusal?: Refusal): ShownPage {
  const wrong = refusal?.fields ?? {};
  const list = agentAddress(agent, 'credentials');
  const body = (
    <>
      <AgentHeading agent={agent} current={list} />
      <Card title="New credential">
        <Refused {...refusal} />
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

type Made = Awaited<ReturnType<typeof createCredential>>;

function secretPage(agent: AgentOfPerson, name: string, made: Made, public_url: string): ShownPage {
  const { client_id, client_secret } = made;
  const list = agentAddress(agent, 'credentials');
  const body = (
    <>
      <AgentHeading agent={agent} current={list} />
      <Card title={name}>
        <OnceShown
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
            `-d resource=${resourceAddresses(public_url).api}`,
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
