import { addressKey } from '../../../http/address-key.ts';
import { signUp } from '../../../../services/people/sign-in.ts';
import { successFlash } from '../../flash.ts';
import { NewAccountFields, NewPasswordField, ExternalLink } from './account-fields.tsx';
import { Card, Heading, ErrorNotice } from '../../components/content.tsx';
import { Actions, Button, ButtonLink, Form } from '../../components/form.tsx';
import type { PageParts } from '../../parts.ts';
import { formPage, orShowFormAgain, type FormRefusal } from '../../form-errors.ts';
import {
  safeReturnPath,
  type ConsoleRoute,
  publicAction,
  publicPage,
  type ShownPage,
  signInAddress,
} from '../../route.ts';

/** Opening an account, where that is allowed (SIGNUP). */
export function signUpRoutes({
  unitOfWork,
  limits,
  sessions,
  settings,
  external,
}: PageParts): ConsoleRoute[] {
  const { signup } = settings;

  return [
    publicPage('/sign-up', ({ query, person }) => {
      const to = safeReturnPath(query.get('to'));
      if (person) return { to };
      return signup === 'closed'
        ? closedPage(to)
        : signUpPage({ to, signup, external: external?.name, invitation: query.get('invitation') });
    }),
    publicAction('/sign-up', (visit) => {
      const { form } = visit;
      const to = safeReturnPath(form.get('to'));
      const username = form.get('username') ?? '';
      const invitation = form.get('invitation');
      if (signup === 'closed') return { ...closedPage(to), status: 403 };
      return orShowFormAgain(
        async () => {
          await limits.consume('sign_up', addressKey(visit.ctx));
          const password = form.get('password') ?? '';
          const wanted = { username, password, invitation: invitation ?? undefined };
          const { account_id } = await signUp(unitOfWork, wanted, signup);
          await sessions.begin(visit.ctx, account_id);
          return {
            to,
            flash: successFlash(`Welcome, ${username.trim().toLowerCase()}. Your account is ready.`),
          };
        },
        (refusal) => signUpPage({ to, signup, external: external?.name, username, invitation, refusal }),
      );
    }),
  ];
}

interface SignUpPage {
  to: string;
  signup: 'open' | 'invite';
  /** Name of the other provider through which people sign in, and up. */
  external: string | undefined;
  username?: string;
  invitation: string | null;
  refusal?: FormRefusal;
}

function signUpPage({ to, signup, external, username, invitation, refusal }: SignUpPage): ShownPage {
  const wrong = refusal?.fields ?? {};
  const body = (
    <>
      <Heading title="Create an account" lead="It holds your agents, and says what they may do." />
      <Card>
        <ErrorNotice {...refusal} />
        <Form action="/sign-up" hidden={{ to }}>
          <NewAccountFields
            needsInvitation={signup === 'invite'}
            username={username}
            invitation={invitation ?? undefined}
            errors={wrong}
          />
          <NewPasswordField
            name="password"
            label="Password"
            hint="A few words that do not belong together are good."
            error={wrong['password']}
          />
          <Button wide>Create the account</Button>
        </Form>
        {external !== undefined && <ExternalLink name={external} to={to} />}
      </Card>
      <p class="aside">
        You have one? <a href={signInAddress(to)}>Sign in</a>
      </p>
    </>
  );
  return formPage('Create an account', body, refusal, 'focus');
}

function closedPage(to: string): ShownPage {
  const body = (
    <>
      <Heading title="Accounts are not open here" />
      <Card>
        <p>Whoever runs this service opens accounts by hand. Ask them for one.</p>
        <Actions>
          <ButtonLink href={signInAddress(to)} kind="primary">
            Sign in
          </ButtonLink>
        </Actions>
      </Card>
    </>
  );
  return { title: 'Accounts are not open here', body, shell: 'focus' };
}
