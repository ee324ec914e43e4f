import { getAgentOperation } from '../../../../operations/agents/get-agent.ts';
import { parseInput } from '../../../../../packages/core/src/inputs/parse-input.ts';
import { updateAgentOperation } from '../../../../operations/agents/update-agent.ts';
import type { AgentOfPerson } from '../../../../services/people/agents.ts';
import { manageAgent } from '../../act-as-agent.ts';
import { maxProfileFormBytes, type Profile, readProfile } from '../../agent-profile-form.ts';
import { successFlash } from '../../flash.ts';
import { AgentCard } from './card.tsx';
import { cardPath } from '../../components/agent-rows.tsx';
import { Card, Notice, ErrorNotice } from '../../components/content.tsx';
import { Actions, Button, Form } from '../../components/form.tsx';
import type { PageParts } from '../../parts.ts';
import { formPage, orShowFormAgain, type FormErrors } from '../../form-errors.ts';
import { action, type ConsoleRoute, page, type ShownPage } from '../../route.ts';
import { CardFields, NameFields } from './fields.tsx';
import { agentAddress, AgentHeading } from './heading.tsx';

const path = '/console/agents/:id/profile';

/** The profile of an agent, with a card preview. */
export function agentProfileRoutes(parts: PageParts): ConsoleRoute[] {
  return [
    page(path, async ({ params, person }) => {
      const { agent, call } = await manageAgent(parts, person, params['id'] ?? '');
      return profilePage({ agent, profile: await call(getAgentOperation, { agent_ref: agent.id }) });
    }),
    action(
      path,
      async ({ params, person, form }) => {
        const { agent, call } = await manageAgent(parts, person, params['id'] ?? '');
        const profile = readProfile(form);
        const intent = form.get('intent');
        if (intent === 'rows') return profilePage({ agent, profile, hasMoreRows: true });
        const change = { agent_ref: agent.id, ...profile };
        return orShowFormAgain(
          async () => {
            if (intent === 'preview') {
              parseInput(updateAgentOperation.input, change);
              return profilePage({ agent, profile, preview: true });
            }
            await call(updateAgentOperation, change);
            return { to: agentAddress(agent, 'profile'), flash: successFlash('Profile saved.') };
          },
          (formErrors) => profilePage({ agent, profile, formErrors }),
        );
      },
      maxProfileFormBytes,
    ),
  ];
}

interface ProfilePage {
  agent: AgentOfPerson;
  profile: Profile;
  /** Whether to preview the card. */
  preview?: boolean;
  /** Whether to show more empty skill rows. */
  hasMoreRows?: boolean;
  formErrors?: FormErrors;
}

function profilePage({
  agent,
  profile,
  preview = false,
  hasMoreRows = false,
  formErrors,
}: ProfilePage): ShownPage {
  const errors = formErrors?.fields ?? {};
  const form = (
    <Card title="Profile" action={agent.visibility === 'public' && <PublicCard {...agent} />}>
      <ErrorNotice {...formErrors} />
      <Form action={agentAddress(agent, 'profile')}>
        <NameFields profile={profile} errors={errors} />
        <CardFields profile={profile} errors={errors} hasMoreRows={hasMoreRows} />
        <Actions>
          <Button name="intent" value="save">
            Save
          </Button>
          <Button kind="quiet" name="intent" value="preview">
            Preview the card
          </Button>
        </Actions>
      </Form>
    </Card>
  );
  const body = (
    <>
      <AgentHeading agent={agent} />
      {preview ? (
        <div class="two-columns">
          <div class="stack">
            <Notice tone="warning" title="Preview">
              Nothing is saved yet.
            </Notice>
            <Card title="Card as others see it">
              <AgentCard handle={agent.canonical_handle} profile={profile} />
            </Card>
          </div>
          {form}
        </div>
      ) : (
        form
      )}
    </>
  );
  return formPage(`Profile of ${agent.display_name}`, body, formErrors);
}

/** A link to the public card. */
function PublicCard({ canonical_handle }: Pick<AgentOfPerson, 'canonical_handle'>) {
  return <a href={cardPath(canonical_handle)}>Public card</a>;
}
