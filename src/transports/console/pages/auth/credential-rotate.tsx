import { authorFromPerson } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { DomainError } from '../../../../../packages/core/src/domain/errors.ts';
import {
  type Credential,
  requireCredential,
  rotateCredential,
} from '../../../../services/auth/credentials.ts';
import { type AgentOfPerson, requireAgentOfPerson } from '../../../../services/people/agents.ts';
import { actAsAgent } from '../../act-as-agent.ts';
import { Card } from '../../components/content.tsx';
import { Select } from '../../components/field.tsx';
import { Actions, Button, ButtonLink, Form } from '../../components/form.tsx';
import { OneTimeSecrets } from '../../components/secrets.tsx';
import { Time } from '../../components/time.tsx';
import type { PageParts } from '../../parts.ts';
import { action, type ConsoleRoute, page, type ShownPage } from '../../route.ts';
import { agentAddress, AgentHeading } from '../agents/heading.tsx';

const path = '/console/agents/:id/credentials/:client_id/rotate';

/** Replaces the secret of a credential. Only the response to the form shows the new one. */
export function credentialRotateRoutes(parts: PageParts): ConsoleRoute[] {
  const { unitOfWork, publishRevocations } = parts;
  return [
    page(path, async ({ params, person }) => {
      const { agent } = await actAsAgent(parts, person, params['id'] ?? '');
      return rotatePage(
        agent,
        await unitOfWork.readAsSystem((repositories) =>
          requireCredential(repositories, agent.id, params['client_id'] ?? ''),
        ),
      );
    }),
    action(path, async ({ params, person, form }) => {
      const { agent } = await actAsAgent(parts, person, params['id'] ?? '');
      try {
        const { ended, ...rotated } = await unitOfWork.writeAsSystem(async (work) => {
          const own = await requireAgentOfPerson(work, person.account_id, agent.id, 'acts_as');
          const { client_id, name } = await requireCredential(work, own.id, params['client_id'] ?? '');
          const seen = Number.parseInt(form.get('rotated_at') ?? '', 10) || 0;
          const end_previous = form.get('previous') !== 'keep';
          return {
            name,
            ...(await rotateCredential(work, { client_id, agent_id: own.id, seen, end_previous })),
          };
        }, authorFromPerson(person));
        await publishRevocations(ended);
        return secretPage(agent, rotated);
      } catch (error) {
        if (!(error instanceof DomainError) || error.code !== 'INVALID_TRANSITION') throw error;
        return { to: agentAddress(agent, 'credentials'), flash: { tone: 'warning', text: error.message } };
      }
    }),
  ];
}

function rotatePage(agent: AgentOfPerson, { client_id, name, rotated_at }: Credential): ShownPage {
  const list = agentAddress(agent, 'credentials');
  const title = `Rotate the secret of ${name ?? client_id}`;
  const body = (
    <>
      <AgentHeading agent={agent} current={list} />
      <Card title={title}>
        <p>The credential gets a new secret, which is shown once. Its client ID and scopes stay.</p>
        <Form action={`${list}/${client_id}/rotate`} hidden={{ rotated_at: String(rotated_at ?? 0) }}>
          <Select
            name="previous"
            label="The previous secret"
            hint="End it now if others may know it: its tokens and open connections end, too."
            value="keep"
            options={[
              { value: 'keep', text: 'Works for 24 hours more' },
              { value: 'end', text: 'Ends now' },
            ]}
          />
          <Actions>
            <Button>Rotate secret</Button>
            <ButtonLink href={list}>Cancel</ButtonLink>
          </Actions>
        </Form>
      </Card>
    </>
  );
  return { title, body };
}

interface Rotated {
  name: string | null;
  client_id: string;
  client_secret: string;
  previous_secret_until: number | null;
}

function secretPage(
  agent: AgentOfPerson,
  { name, client_id, client_secret, previous_secret_until }: Rotated,
): ShownPage {
  const list = agentAddress(agent, 'credentials');
  const body = (
    <>
      <AgentHeading agent={agent} current={list} />
      <Card title={name ?? client_id}>
        <OneTimeSecrets
          secrets={[
            { label: 'Client ID', value: client_id },
            { label: 'Client secret', value: client_secret },
          ]}
        />
        <p>
          {previous_secret_until === null ? (
            'The previous secret no longer works.'
          ) : (
            <>
              The previous secret works until <Time at={previous_secret_until} />.
            </>
          )}
        </p>
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
