import { ButtonLink } from '../../components/form.tsx';
import type { ComponentChildren } from 'preact';
import { passwordLength } from '../../../../services/people/passwords.ts';
import { Field, NameField } from '../../components/field.tsx';

interface NewAccountFieldsProps {
  /** Whether an invitation code is required. */
  needsInvitation: boolean;
  username: string | undefined;
  invitation: string | undefined;
  errors: Readonly<Record<string, string>>;
}

/** The fields of a new account besides the password. */
export function NewAccountFields({ needsInvitation, username, invitation, errors }: NewAccountFieldsProps) {
  return (
    <>
      {needsInvitation && (
        <Field
          name="invitation"
          label="Invitation code"
          hint="New accounts need an invitation."
          value={invitation}
          error={errors['invitation']}
          plain
          required
        />
      )}
      <NameField
        name="username"
        label="Username"
        permanenceHint="The handles of your agents start with it. It cannot be changed later."
        value={username}
        error={errors['username']}
        autocomplete="username"
      />
    </>
  );
}

interface NewPasswordFieldProps {
  name: string;
  label: string;
  /** Follows the minimum length. */
  hint: ComponentChildren;
  error: string | undefined;
}

/** A field for a new password. */
export function NewPasswordField({ name, label, hint, error }: NewPasswordFieldProps) {
  const { min, max } = passwordLength;
  return (
    <Field
      name={name}
      label={label}
      type="password"
      hint={
        <>
          At least {min} characters. {hint}
        </>
      }
      error={error}
      autocomplete="new-password"
      minlength={min}
      maxlength={max}
      required
    />
  );
}

/** A link to sign in through the external provider and return to `to`. */
export function ExternalLink({ name, to }: { name: string; to: string }) {
  return (
    <>
      <p class="or">or</p>
      <ButtonLink href={`/sign-in/external?${new URLSearchParams({ to }).toString()}`} wide>
        Continue with {name}
      </ButtonLink>
    </>
  );
}
