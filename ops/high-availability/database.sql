CREATE ROLE formbridge LOGIN PASSWORD 'change-me-formbridge';
CREATE DATABASE formbridge OWNER formbridge;
