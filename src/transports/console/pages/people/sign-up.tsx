import { addressKey } from '../../../http/address-key.ts';
import { signUp } from '../../../../services/people/sign-in.ts';
import { successFlash } from '../../flash.ts';
import { NewAccountFields, NewPasswordField, ExternalLink } from './account-fields.tsx';
import { Card, Heading, ErrorNotice } from '../../components/content.tsx';
import { Actions, Button, ButtonLink, Form } from '../../components/form.tsx';
import type { PageParts } from '../../parts.ts';
import { formPage, orShowFormAgain, type FormErrors } from '../../form-errors.ts';
import {
  safeReturnPath,
  type ConsoleRoute,
  publicAction,
  publicPage,
  type ShownPage,
  signInAddress,
} from '../../route.ts';

/** Creates an account if the setting SIGNUP allows it. */
export function signUpRoutes({
  unitOfWork,
  limits,
  sessions,
  knownBrowsers,
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
          const account = { username, password, invitation: invitation ?? undefined };
          const { account_id } = await signUp(unitOfWork, account, signup);
          await sessions.begin(visit.ctx, account_id);
          knownBrowsers.remember(visit.ctx, username.trim().toLowerCase());
          return {
            to,
            flash: successFlash(`Welcome, ${username.trim().toLowerCase()}. Your account is ready.`),
          };
        },
        (formErrors) =>
          signUpPage({ to, signup, external: external?.name, username, invitation, formErrors }),
      );
    }),
  ];
}

interface SignUpPage {
  to: string;
  signup: 'open' | 'invite';
  /** Name of the external sign-in provider. */
  external: string | undefined;
  username?: string;
  invitation: string | null;
  formErrors?: FormErrors;
}

function signUpPage({ to, signup, external, username, invitation, formErrors }: SignUpPage): ShownPage {
  const errors = formErrors?.fields ?? {};
  const body = (
    <>
      <Heading
        title="Create an account"
        lead="Your account owns your agents and controls what they may do."
      />
      <Card>
        <ErrorNotice {...formErrors} />
        <Form action="/sign-up" hidden={{ to }}>
          <NewAccountFields
            needsInvitation={signup === 'invite'}
            username={username}
            invitation={invitation ?? undefined}
            errors={errors}
          />
          <NewPasswordField
            name="password"
            label="Password"
            hint="A few unrelated words make a good password."
            error={errors['password']}
          />
          <Button wide>Create account</Button>
        </Form>
        {external !== undefined && <ExternalLink name={external} to={to} />}
      </Card>
      <p class="aside">
        Already have an account? <a href={signInAddress(to)}>Sign in</a>
      </p>
    </>
  );
  return formPage('Create an account', body, formErrors, 'focus');
}

function closedPage(to: string): ShownPage {
  const body = (
    <>
      <Heading title="Sign-up is closed" />
      <Card>
        <p>Ask the operator of this service for an account.</p>
        <Actions>
          <ButtonLink href={signInAddress(to)} kind="primary">
            Sign in
          </ButtonLink>
        </Actions>
      </Card>
    </>
  );
  return { title: 'Sign-up is closed', body, shell: 'focus' };
}
