import { system } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { authorFromPerson } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { parseInput } from '../../../../../packages/core/src/inputs/parse-input.ts';
import { registerAgentOperation } from '../../../../operations/agents/register-agent.ts';
import type { Person } from '../../../../../packages/core/src/domain/auth/actor.ts';
import { warnIfUnreachable } from '../../../../../packages/core/src/domain/agents/agents.ts';
import { registerForPerson } from '../../../../services/people/agents.ts';
import { listOrganizations } from '../../../../services/people/memberships.ts';
import { emptyProfile, maxProfileFormBytes, type Profile, readProfile } from '../../agent-profile-form.ts';
import { successFlash } from '../../flash.ts';
import { AgentCard } from './card.tsx';
import { Card, Heading, ErrorNotice } from '../../components/content.tsx';
import { Select, NameField } from '../../components/field.tsx';
import { Actions, Button, ButtonLink, Form } from '../../components/form.tsx';
import type { PageParts } from '../../parts.ts';
import { formPage, orShowFormAgain, type FormErrors } from '../../form-errors.ts';
import { action, type ConsoleRoute, page, type ShownPage } from '../../route.ts';
import { CardFields, NameFields } from './fields.tsx';
import { agentAddress } from './heading.tsx';
import { AccessSelects, defaultPreset, type EnteredAccess, PresetChoices, toAccess } from './presets.tsx';

const path = '/console/agents/new';

/** Creates a personal agent or one of an organization. */
export function agentNewRoutes({ unitOfWork }: PageParts): ConsoleRoute[] {
  const listOwnerOptions = async (person: Person) =>
    ownerOptions(person, await unitOfWork.read(system, (work) => listOrganizations(work, person)));

  return [
    page(path, async ({ person, query }) => {
      const entered = { ...emptyForm, owner: query.get('owner') ?? emptyForm.owner };
      return newAgentPage({ person, owners: await listOwnerOptions(person), entered });
    }),
    action(
      path,
      async ({ person, form }) => {
        const entered = readForm(form);
        const showForm = async (options: Pick<NewAgentPage, 'formErrors' | 'preview' | 'hasMoreRows'> = {}) =>
          newAgentPage({ person, owners: await listOwnerOptions(person), entered, ...options });
        if (form.get('intent') === 'rows') return showForm({ hasMoreRows: true });
        return orShowFormAgain(
          async () => {
            const input = parseInput(registerAgentOperation.input, toInput(entered));
            if (form.get('intent') === 'preview') return showForm({ preview: true });
            const agent = await unitOfWork.write(authorFromPerson(person), (work) =>
              registerForPerson(work, person.account_id, input),
            );
            return {
              to: agentAddress(agent),
              flash: successFlash(
                `Created @${agent.canonical_handle}. ${warnIfUnreachable(toAccess(entered))}`.trim(),
              ),
            };
          },
          (formErrors) => showForm({ formErrors }),
          { DUPLICATE_HANDLE: 'name', NOT_FOUND: 'owner', FORBIDDEN: 'owner' },
        );
      },
      maxProfileFormBytes,
    ),
  ];
}

interface Entered extends EnteredAccess {
  name: string;
  /** `personal`, or `member:` or `shared:` and the slug of an organization. */
  owner: string;
  profile: Profile;
}

const emptyForm: Entered = {
  name: '',
  owner: 'personal',
  profile: emptyProfile,
  preset: defaultPreset,
  visibility: '',
  inbound_policy: '',
};

function readForm(form: URLSearchParams): Entered {
  return {
    name: (form.get('name') ?? '').trim(),
    owner: form.get('owner') ?? emptyForm.owner,
    profile: readProfile(form),
    preset: form.get('preset') ?? defaultPreset,
    visibility: form.get('visibility') ?? '',
    inbound_policy: form.get('inbound_policy') ?? '',
  };
}

/** The input of the operation `register_agent`. */
function toInput({ name, owner, profile, ...access }: Entered): object {
  const [scope, organization] = owner.split(':');
  const ownership = organization === undefined ? {} : { scope, organization };
  return { name, ...profile, ...toAccess(access), ...ownership };
}

type OwnerOption = { value: string; text: string };

function ownerOptions(
  { username }: Person,
  organizations: Awaited<ReturnType<typeof listOrganizations>>,
): OwnerOption[] {
  return [
    { value: 'personal', text: `You (@${username}.…)` },
    ...organizations.flatMap(({ slug, role }) => [
      { value: `member:${slug}`, text: `${slug}, managed by you (@${slug}.…)` },
      ...(role === 'admin'
        ? [{ value: `shared:${slug}`, text: `${slug}, shared by its admins (@${slug}.…)` }]
        : []),
    ]),
  ];
}

interface NewAgentPage {
  person: Person;
  owners: readonly OwnerOption[];
  entered: Entered;
  preview?: boolean;
  /** Whether to show more empty skill rows. */
  hasMoreRows?: boolean;
  formErrors?: FormErrors;
}

function newAgentPage(options: NewAgentPage): ShownPage {
  const { person, owners, entered, preview = false, hasMoreRows = false, formErrors } = options;
  const { profile, owner, name } = entered;
  const errors = formErrors?.fields ?? {};
  const { visibility, inbound_policy } = entered;
  const isDetailed =
    [profile.card_body, visibility, inbound_policy].some(Boolean) || profile.skills.length > 0;
  const isPersonalOnly = owners.length === 1;
  const namespace = owner.split(':')[1] ?? person.username;
  const body = (
    <>
      <Heading
        title="New agent"
        back={{ href: '/console/agents', text: 'Agents' }}
        lead="An identity with which software sends and receives messages."
      />
      {preview && (
        <Card title="Card as others will see it">
          <AgentCard handle={`${namespace}.${name.toLowerCase()}`} profile={profile} />
        </Card>
      )}
      <Form action={path}>
        <ErrorNotice {...formErrors} />
        <Card title="Identity">
          {!isPersonalOnly && (
            <Select
              name="owner"
              label="Owner"
              value={owner}
              options={owners}
              error={errors['owner'] ?? errors['organization'] ?? errors['scope']}
            />
          )}
          <NameField
            name="name"
            label={isPersonalOnly ? 'Handle' : 'Name in the handle'}
            {...(isPersonalOnly && { prefix: `@${person.username}.` })}
            permanenceHint="It cannot be changed later."
            value={name}
            error={errors['name']}
          />
          <NameFields profile={profile} errors={errors} />
        </Card>
        <Card title="Access">
          <PresetChoices {...entered} />
        </Card>
        <details open={isDetailed || preview || hasMoreRows}>
          <summary>Advanced</summary>
          <Card>
            <AccessSelects access={entered} errors={errors} />
            <CardFields profile={profile} errors={errors} hasMoreRows={hasMoreRows} />
          </Card>
        </details>
        <Actions>
          <Button name="intent" value="create">
            Create agent
          </Button>
          <Button kind="quiet" name="intent" value="preview">
            Preview the card
          </Button>
          <ButtonLink href="/console/agents">Cancel</ButtonLink>
        </Actions>
      </Form>
    </>
  );
  return formPage('New agent', body, formErrors);
}
