const SECRET_SHAPES = /\b(rtok|fbk|rvw|sess)_[A-Za-z0-9_-]{8,}/g;
const JWT_SHAPE = /\beyJ[\w-]{8,}(?:\.[\w-]*){1,4}/g;

/** Masks secrets in text that we don't write ourselves, such as an error's or a caller's, before it is logged or stored. */
export const cutSecrets = (text: string): string => text.replace(SECRET_SHAPES, "$1_…").replace(JWT_SHAPE, "eyJ…");
